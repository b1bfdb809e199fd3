"""Pacewatch: how fast the LLM providers you depend on are today, and a page when one slows down."""

__version__ = "0.1.0"
