"""Shipping rates."""
