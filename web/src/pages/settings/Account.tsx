import { useMe } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Skeleton } from "@/parts/Skeleton";
import { useSession } from "@/store/session";

export function Account() {
  const { data: me } = useMe();
  const hasToken = useSession((state) => state.token !== null);
  const signOut = useSession((state) => state.signOut);
  return (
    <div className="settings-scroll">
      <div className="settings-main">
        <h1>Account</h1>
        <p className="settings-lead">Who you are to the service.</p>
        {me ? (
          <section className="settings-card settings-rows">
            <div>
              <span>
                <strong>{me.user_id}</strong>
                <p>
                  {me.is_operator
                    ? "Operator: you see all runs, and may save trees."
                    : "You see your own conversations and runs. Trees are saved by operators."}
                </p>
              </span>
              <span className="settings-fact">{me.is_operator ? "operator" : "user"}</span>
            </div>
            <div>
              <span>
                <strong>Live debugging</strong>
                <p>
                  {me.can_debug
                    ? "You may halt running questions, set breakpoints and change values."
                    : "Not available to you: it is for operators, where the service has it switched on."}
                </p>
              </span>
              <span className="settings-fact">{me.can_debug ? "on" : "off"}</span>
            </div>
            <div>
              <span>
                <strong>Access</strong>
                <p>
                  {hasToken
                    ? "Your token is in this tab alone, and is gone when you close it or sign out."
                    : "This service asks for no token: it serves one user, on this machine only."}
                </p>
              </span>
              {hasToken && <Button onClick={signOut}>Sign out</Button>}
            </div>
          </section>
        ) : (
          <Skeleton />
        )}
      </div>
    </div>
  );
}
