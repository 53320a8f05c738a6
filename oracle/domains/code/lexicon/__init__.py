"""The words that the classifiers know, as one dictionary from phrases to tags.

A tag says what a phrase tells about a message. Matching walks the tokens once and takes the longest phrase at each
place, so its cost is linear whatever the text.
"""
