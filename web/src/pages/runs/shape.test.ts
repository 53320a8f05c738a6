import { expect, it } from "vitest";
import { shapeOf, WIDTH, widthOf } from "./shape";

it("the width grows with the root of the time, and a minute fills the column", () => {
  expect(widthOf(60)).toBe(WIDTH);
  expect(widthOf(15)).toBe(WIDTH / 2);
  expect(widthOf(600)).toBe(WIDTH);
  expect(widthOf(0)).toBeGreaterThan(0);
});

it("turns, tools and notices stand where they were in time", () => {
  const shape = shapeOf(
    [
      ["turn", 0, 7_500],
      ["tool", 7_500, 1],
      ["turn", 7_600, 7_400],
      ["notice", 15_000, 0],
    ],
    15,
  );
  expect(shape.width).toBe(120);
  expect(shape.model).toBe("M0 3h58.5v8h-58.5zM60.8 3h57.7v8h-57.7z");
  expect(shape.tools).toBe("M60 13h2.5v3h-2.5z");
  expect(shape.notices).toBe("M120 0v18");
});

it("a run whose spans reach beyond its end is drawn whole", () => {
  expect(shapeOf([["turn", 0, 15_000]], 0).width).toBe(120);
  expect(shapeOf([], 0).model).toBe("");
});
