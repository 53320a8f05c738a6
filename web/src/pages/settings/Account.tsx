import { useMe } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Skeleton } from "@/parts/Skeleton";
import { useSession } from "@/store/session";
import { Card, Fact, Section, Setting } from "./Section";

export function Account() {
  const { data: me } = useMe();
  const hasToken = useSession((state) => state.token !== null);
  const signOut = useSession((state) => state.signOut);
  return (
    <Section title="Account" lead="Your user name and rights.">
      {me ? (
        <Card>
          <Setting
            name={<strong>{me.user_id}</strong>}
            text={
              me.is_operator
                ? "Operator: you see all runs and can save trees."
                : "You see your own conversations and runs. Only operators can save trees."
            }
          >
            <Fact>{me.is_operator ? "operator" : "user"}</Fact>
          </Setting>
          <Setting
            name={<strong>Live debugging</strong>}
            text={
              me.can_debug
                ? "You can pause runs, set breakpoints and change values."
                : "Only for operators, and only where the service has it turned on."
            }
          >
            <Fact>{me.can_debug ? "on" : "off"}</Fact>
          </Setting>
          <Setting
            name={<strong>Access</strong>}
            text={
              hasToken
                ? "Your token is kept in this tab only, until you close it or sign out."
                : "This service needs no token: it serves one user, on this machine only."
            }
          >
            {hasToken && <Button onClick={signOut}>Sign out</Button>}
          </Setting>
        </Card>
      ) : (
        <Skeleton />
      )}
    </Section>
  );
}
