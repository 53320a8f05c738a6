// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from "vitest";
import { onForget, useSession } from "./session";

const forgotten = vi.fn();
onForget(forgotten);
const session = () => useSession.getState();

beforeEach(() => {
  session().signOut();
  forgotten.mockClear();
});

test("a token that has expired leaves what its user has begun, and another user finds none of it", () => {
  session().signIn("first", "alice");
  sessionStorage.setItem("oracle.draft.review", "text");
  forgotten.mockClear();
  session().refuse("first");
  session().signIn("second", "alice");
  expect(forgotten).not.toHaveBeenCalled();
  expect(sessionStorage.getItem("oracle.draft.review")).toBe("text");
  session().refuse("second");
  session().signIn("third", "bob");
  expect(forgotten).toHaveBeenCalledOnce();
  expect(sessionStorage.getItem("oracle.draft.review")).toBeNull();
  expect(sessionStorage.getItem("oracle.token")).toBe("third");
});

test("a late refusal of an earlier token does not sign the next user out", () => {
  session().signIn("first", "alice");
  session().signOut();
  session().signIn("second", "bob");
  session().refuse("first");
  session().refuse(null);
  expect(session()).toMatchObject({ token: "second", needsToken: false });
});

test("nothing is kept of a user who has signed out", () => {
  session().signIn("first", "alice");
  sessionStorage.setItem("oracle.draft.review", "text");
  session().signOut();
  expect(forgotten).toHaveBeenCalled();
  expect(sessionStorage).toHaveLength(0);
  expect(session()).toMatchObject({ token: null, needsToken: true, refused: false });
});
