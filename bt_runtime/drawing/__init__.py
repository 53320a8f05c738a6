"""Pictures and descriptions of trees: text, Mermaid, DOT, SVG, JSON, palette and schema."""
