/** The shell: what stands around every page, and which page an address shows. */
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Route, Switch, useLocation } from "wouter";
import { queryClient, useMe } from "@/api/queries";
import { Skeleton } from "@/parts/Skeleton";
import { Toasts } from "@/parts/Toast";
import { useKeys } from "@/store/keys";
import { useSession } from "@/store/session";
import { BottomNav } from "./BottomNav";
import { ConnectionStrip } from "./ConnectionStrip";
import { Failure } from "./Failure";
import { Header } from "./Header";
import { KeysDialog } from "./KeysDialog";
import { PaletteAhead, PaletteDoor } from "./PaletteDoor";

const Chat = lazy(() => import("@/pages/chat"));
const Runs = lazy(() => import("@/pages/runs"));
const Run = lazy(() => import("@/pages/run"));
const Compare = lazy(() => import("@/pages/compare"));
const Shadow = lazy(() => import("@/pages/shadow"));
const Waiting = lazy(() => import("@/pages/waiting"));
const Trees = lazy(() => import("@/pages/trees"));
const Editor = lazy(() => import("@/pages/editor"));
const Usage = lazy(() => import("@/pages/usage"));
const Settings = lazy(() => import("@/pages/settings"));
const SignIn = lazy(() => import("@/pages/signin"));
const Missing = lazy(() => import("@/pages/missing"));

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Gate />
    </QueryClientProvider>
  );
}

/** Asks for a token where the service wants one; the address stays, and is shown afterwards. */
function Gate() {
  const needsToken = useSession((state) => state.needsToken);
  useMe(); // the first call: it says whether a token is needed
  if (needsToken)
    return (
      <Suspense fallback={<Skeleton label="Loading the page" />}>
        <SignIn />
      </Suspense>
    );
  return <Shell />;
}

/** What a failure is confined to: an address, but all of the chat, which stays as its conversation gets an address. */
const pageOf = (path: string) => (path.startsWith("/chat/") ? "/" : path);

type Overlay = "palette" | "keys" | null;

function Shell() {
  const [overlay, setOverlay] = useState<Overlay>(null);
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const page = pageOf(path);
  const shownPage = useRef(page);
  useEffect(() => {
    // What had the focus is gone with the page before: go on at the top of this one, not of the document.
    if (shownPage.current !== page && document.activeElement === document.body)
      main.current?.focus({ preventScroll: true });
    shownPage.current = page;
  }, [page]);
  const close = () => setOverlay(null);
  useKeys({
    "mod+k": () => setOverlay("palette"),
    "?": () => setOverlay("keys"),
    // A page that has a search of its own is asked first.
    "/": () => setOverlay("palette"),
  });
  return (
    <div className="app flex flex-col h-dvh bg-canvas">
      <a
        className="absolute z-50 -top-15 left-2 py-2 px-3 rounded-md bg-ink text-on-ink focus:top-1.5"
        href="#main"
        onClick={(event) => {
          event.preventDefault(); // what follows # in an address is the page's
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <Header onPalette={() => setOverlay("palette")} />
      <ConnectionStrip />
      <main className="flex-1 min-h-0 overflow-auto outline-none" id="main" ref={main} tabIndex={-1}>
        <Failure key={page}>
          <Suspense fallback={<Skeleton label="Loading the page" />}>
            <Pages />
            <PaletteAhead />
          </Suspense>
        </Failure>
      </main>
      <BottomNav />
      <Toasts />
      {overlay === "keys" && <KeysDialog onClose={close} />}
      {overlay === "palette" && <PaletteDoor onClose={close} />}
    </div>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Chat />
      </Route>
      <Route path="/chat/:contextId">{({ contextId }) => <Chat contextId={contextId} />}</Route>
      <Route path="/runs">
        <Runs />
      </Route>
      <Route path="/runs/:runId">{({ runId }) => <Run key={runId} runId={runId} />}</Route>
      <Route path="/compare/:first/:second">
        {({ first, second }) => <Compare key={`${first} ${second}`} first={first} second={second} />}
      </Route>
      <Route path="/shadow">
        <Shadow />
      </Route>
      <Route path="/waiting">
        <Waiting />
      </Route>
      <Route path="/trees">
        <Trees />
      </Route>
      <Route path="/trees/:name">{({ name }) => <Editor key={name} name={name} />}</Route>
      <Route path="/usage">
        <Usage />
      </Route>
      <Route path="/settings">
        <Settings />
      </Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
