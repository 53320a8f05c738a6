/** Shown while the service does not answer, or wants fewer calls: what that means, and when the next attempt is. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { heard } from "@/api/client";
import { Button } from "@/parts/Button";
import { Mark } from "@/parts/Mark";
import { useSession } from "@/store/session";
import { useNow } from "@/store/useNow";

const LONGEST_S = 15;

export function ConnectionStrip() {
  const connection = useSession((state) => state.connection);
  const waitsUntil = useSession((state) => state.waitsUntil);
  if (connection === "offline") return <Offline />;
  return waitsUntil > 0 ? <TooMany key={waitsUntil} until={waitsUntil} /> : null;
}

const STRIP = "flex flex-none items-center gap-2 min-h-9 py-1 px-4 border-b border-line bg-surface-2";

function TooMany({ until }: { until: number }) {
  const left = until - useNow(500, true);
  if (left <= 0) return null;
  return (
    <div className={STRIP} role="status">
      <Mark kind="warning" size={14} label={null} />
      <span className="text-ink-2">
        <strong className="text-ink">Too many requests.</strong> The page loads again{" "}
        <span aria-hidden="true">in {Math.ceil(left / 1_000)} s</span> by itself.
      </span>
    </div>
  );
}

function Offline() {
  const queries = useQueryClient();
  const [tries, setTries] = useState(0);
  const [leftS, setLeftS] = useState(1);
  const [isTrying, setTrying] = useState(false);
  const attempt = async () => {
    setTrying(true);
    try {
      heard(await fetch("/healthz", { cache: "no-store" }), null);
      await queries.invalidateQueries();
    } catch {
      setTries(tries + 1);
      setLeftS(Math.min(LONGEST_S, 2 ** (tries + 1)));
    }
    setTrying(false);
  };
  useEffect(() => {
    if (isTrying) return;
    const timer = setTimeout(() => {
      if (leftS <= 1) void attempt();
      else setLeftS(leftS - 1);
    }, 1000);
    const now = () => void attempt();
    window.addEventListener("online", now);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("online", now);
    };
  });
  return (
    <div className={STRIP} role="alert">
      <Mark kind="warning" size={14} label={null} />
      <span className="flex-1 text-ink-2">
        <strong className="text-ink">The service is not responding.</strong> What is already loaded stays
        available. <span aria-hidden="true">{isTrying ? "Trying now." : `Trying again in ${leftS} s.`}</span>
      </span>
      <Button size="small" disabled={isTrying} onClick={() => void attempt()}>
        Try now
      </Button>
    </div>
  );
}
