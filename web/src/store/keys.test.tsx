// @vitest-environment jsdom
import { cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useHeldKeys, useKeys } from "./keys";

vi.hoisted(() => {
  // jsdom has none; the preferences ask for the theme of the system.
  Object.assign(globalThis, { matchMedia: () => ({ matches: false, addEventListener: () => undefined }) });
});

afterEach(cleanup);

/** Press a key in a text field; whether the field would get it. */
function press(init: KeyboardEventInit): boolean {
  const field = document.body.appendChild(document.createElement("input"));
  const isLeft = field.dispatchEvent(
    new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }),
  );
  field.remove();
  return isLeft;
}

test("keys that are held reach neither the page nor a field, and Escape gives up", () => {
  const [onPage, onEscape] = [vi.fn(), vi.fn()];
  renderHook(() => {
    useKeys({ Escape: onPage, F2: onPage, "mod+s": onPage });
  });
  const { rerender } = renderHook(
    ({ isHeld }) => {
      useHeldKeys(isHeld, onEscape);
    },
    { initialProps: { isHeld: true } },
  );
  expect(["a", "Enter", "Tab", "ArrowLeft", "Escape"].map((key) => press({ key }))).toEqual(
    Array<boolean>(5).fill(false),
  );
  expect(onEscape).toHaveBeenCalledOnce();
  expect(onPage).not.toHaveBeenCalled();
  expect(press({ key: "r", ctrlKey: true })).toBe(true); // the browser's
  press({ key: "F2" });
  press({ key: "s", ctrlKey: true });
  expect(onPage).toHaveBeenCalledTimes(2);

  rerender({ isHeld: false });
  expect(press({ key: "a" })).toBe(true);
  press({ key: "Escape" });
  expect(onPage).toHaveBeenCalledTimes(3);
  expect(onEscape).toHaveBeenCalledOnce();
});
