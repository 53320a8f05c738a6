"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function activate() {
  const [command, ...args] = workspace.getConfiguration("oracleTrees").get("command");
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient(
    "oracleTrees",
    "Oracle trees",
    { command, args, options: { cwd } },
    { documentSelector: [{ scheme: "file", language: "yaml" }] },
  );
  return client.start();
};

exports.deactivate = function deactivate() {
  return client?.stop();
};
