"""Builds trees and drives them: the builder, the stepper and the run loop."""
