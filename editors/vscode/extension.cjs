// Starts `tensorloom lsp` for .op files, in the folder of the workspace; all that is shown comes from there.

const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const [command, ...args] = workspace.getConfiguration("tensorloom").get("command");
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  client = new LanguageClient(
    "tensorloom",
    "tensorloom",
    { command, args, options: { cwd } },
    { documentSelector: [{ language: "op" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showWarningMessage(
      `tensorloom: ${command} does not start (${error.message}). Install the compiler, ` +
        `pip install "tensorloom[editor]", or say in the setting tensorloom.command where it is.`,
    );
  }
};

exports.deactivate = () => client?.stop();
