"""Formulas, spectra and limits that the papers state, and what the same models give exactly.

Unless a docstring says otherwise, lengths, prompts and memory are in tokens and times in rounds;
``lower``, ``upper``, ``prompt`` and ``memory`` are l, u, s and M of the papers, and an argument
outside the model raises ValueError. Costs are given as O(...).
"""
