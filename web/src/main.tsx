import "./styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { applyTheme } from "./store/preferences";

applyTheme();
const root = document.getElementById("root");
const show = () => {
  if (root)
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
};
// An issuer of tokens sends the browser back with these.
if (/[?&]state=/.test(location.search))
  void import("./pages/signin/issuer").then(({ finishSignIn }) => finishSignIn()).finally(show);
else show();
