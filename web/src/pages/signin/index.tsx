/** Sign-in by token, or at an issuer of tokens. The address stays as it is, so that what was asked for is shown afterwards. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useState, type SyntheticEvent } from "react";
import { Button } from "@/parts/Button";
import { Logo } from "@/parts/icons";
import { Mark } from "@/parts/Mark";
import { useSession } from "@/store/session";
import { useTitle } from "@/store/title";
import { checkToken, type Refusal } from "./checkToken";
import { beginSignIn, problemOfSignIn, readIssuers } from "./issuer";

export default function SignIn() {
  useTitle("Sign in");
  const refusedBefore = useSession((state) => state.refused);
  const signIn = useSession((state) => state.signIn);
  const queries = useQueryClient();
  const [token, setToken] = useState("");
  const [isShown, setShown] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(refusedBefore ? "unknown" : null);
  const [issuers, setIssuers] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState(problemOfSignIn);
  const id = useId();
  useEffect(() => void readIssuers().then(setIssuers), []);

  const leaveFor = async (issuer: string) => {
    setBusy(true);
    const found = await beginSignIn(issuer);
    setProblem(found);
    setBusy(found === "");
  };
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const given = token.trim();
    if (given === "" || isBusy) {
      if (!isBusy) setRefusal("empty");
      return;
    }
    setBusy(true);
    const checked = await checkToken(given);
    setBusy(false);
    setRefusal("refusal" in checked ? checked.refusal : null);
    if (!("userId" in checked)) return;
    queries.clear(); // a user's rights may be others than before
    signIn(given, checked.userId);
  };
  return (
    <main className="grid place-items-center h-full p-6 bg-canvas">
      {/* No `name` and no `action`: the token is in no address, and no form that is submitted has it. */}
      <form
        className="flex flex-col w-full max-w-68 pb-[12vh]"
        onSubmit={(event) => void submit(event)}
        noValidate
      >
        <h1 className="flex items-center gap-2.5 mb-3.5">
          <Logo size={20} />
          Oracle
        </h1>
        {problem && (
          <p className={`mb-3 text-sm ${PROBLEM}`} role="alert">
            <Mark kind="error" size={12} className="mt-0.5" label={null} />
            {problem}
          </p>
        )}
        {issuers.map((issuer) => (
          <Button
            key={issuer}
            className="mb-2"
            variant="primary"
            disabled={isBusy}
            onClick={() => void leaveFor(issuer)}
          >
            Sign in with {issuer}
          </Button>
        ))}
        {issuers.length > 0 && <p className="mt-1 mb-3 text-sm text-ink-3">Or with a token:</p>}
        <label className="mb-1 font-medium" htmlFor={id}>
          Access token
        </label>
        <span className={`field h-8 pr-2.5 pointer-coarse:h-11 ${refusal ? "border-err-fill" : ""}`}>
          <input
            id={id}
            className="py-0 px-2.5"
            type={isShown ? "text" : "password"}
            value={token}
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            data-1p-ignore
            // eslint-disable-next-line jsx-a11y/no-autofocus -- the page has this one field
            autoFocus
            aria-invalid={refusal !== null}
            aria-describedby={`${id}-says`}
            onChange={(event) => setToken(event.target.value)}
          />
          <button
            type="button"
            className="text-button text-ink-3"
            aria-pressed={isShown}
            aria-label="Show the token"
            onClick={() => setShown(!isShown)}
          >
            {isShown ? "Hide" : "Show"}
          </button>
        </span>
        <p
          id={`${id}-says`}
          className={`mt-1.5 mb-3 text-sm ${refusal ? PROBLEM : "text-ink-3"}`}
          role={refusal ? "alert" : undefined}
        >
          {refusal ? (
            <>
              <Mark kind="error" size={12} className="mt-0.5" label={null} />
              {REFUSALS[refusal]}
            </>
          ) : (
            "Ask your operator for one. It is kept in this tab only, until you close it."
          )}
        </p>
        <Button type="submit" variant={issuers.length > 0 ? "plain" : "primary"} disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </Button>
      </form>
    </main>
  );
}

const PROBLEM = "grid grid-cols-[auto_1fr] gap-1.5 leading-tight text-err";

const REFUSALS: Readonly<Record<Refusal, string>> = {
  empty: "Enter a token. Your operator can give you one.",
  unknown: "The service does not know this token. It may have been replaced.",
  offline: "The service is not responding. Try again when it is back.",
};
