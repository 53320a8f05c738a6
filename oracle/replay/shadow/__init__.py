"""The same question under another control, beside what users see; and what such pairs say."""
