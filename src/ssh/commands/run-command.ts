import type { GitOperation } from '../../git/index.ts';
import { forbidden, unauthenticated } from '../../kernel/index.ts';
import type { Command } from './parse-command.ts';
import { errorOutput } from './error-output.ts';
import type { SshDeps } from '../deps.ts';
import { authenticateLfs } from './authenticate-lfs.ts';
import { cloneAddress } from './clone-address.ts';
import { plainText } from './plain-text.ts';
import { serveGit } from './serve-git.ts';
import { serveInfoCommand } from './info-commands.ts';
import { serveInboxCommand } from './inbox-commands.ts';
import { serveIssueCommand } from './issue-commands.ts';
import { servePullCommand } from './pull-commands.ts';
import type { InboxCommand } from './parse-inbox-command.ts';
import type { IssueCommand } from './parse-issue-command.ts';
import type { PullCommand } from './parse-pull-command.ts';
import type { Client, AuthenticatedSession, GitSession } from './session.ts';

/** The response to an unknown command; it reveals nothing about the server. */
const notUnderstood = 'hearth: only git and a few words are understood here; "help" lists them\n';

/**
 * Runs a command and resolves with its exit status; never rejects.
 * @param command `null` for an unknown command line
 */
export async function runCommand(deps: SshDeps, command: Command | null, client: Client): Promise<number> {
  if (command === null) {
    client.writeError(notUnderstood);
    return 1;
  }
  if (command.kind === 'wrong path') {
    client.writeError(wrongPath(deps, command.meant, client));
    return 1;
  }
  const startedAt = deps.clock.now();
  const { exitCode, result } = await attempt(deps, command, client);
  if (command.kind === 'git') {
    const seconds = (deps.clock.now() - startedAt) / 1000;
    deps.git.traffic.record(
      { service: command.service, transport: 'ssh', result: client.signal.aborted ? 'left' : result },
      { seconds, ...client.moved() },
    );
  }
  return exitCode;
}

async function attempt(
  deps: SshDeps,
  command: Exclude<Command, { kind: 'wrong path' }>,
  client: Client,
): Promise<{ exitCode: number; result: GitOperation['result'] }> {
  try {
    // Looked up for each command: a connection may outlive its key or its owner's permissions.
    const owner = await deps.accounts.viewerOfKey(client.blob, { address: client.address });
    if (owner === null) throw unauthenticated('key_removed', 'This key is no longer accepted.');
    const exitCode = await serve(deps, command, { ...client, viewer: owner.viewer });
    return { exitCode, result: exitCode === 0 ? 'ok' : 'failed' };
  } catch (error) {
    // The disconnect causes any errors after it.
    if (client.signal.aborted) return { exitCode: 1, result: 'left' };
    const faultId = deps.random.uuid().slice(0, 8);
    const { line, exitCode, isFault } = errorOutput(error, faultId);
    if (isFault) deps.logger.error('ssh.fault', { faultId, command: command.kind, error });
    client.writeError(line);
    return { exitCode, result: isFault ? 'failed' : 'refused' };
  }
}

function serve(deps: SshDeps, command: Exclude<Command, { kind: 'wrong path' }>, session: GitSession): Promise<number> {
  switch (command.kind) {
    case 'git':
      return serveGit(deps, command, session);
    case 'lfs':
      return authenticateLfs(deps, command, session);
    default:
      return serveAccount(deps, command, session);
  }
}

/** All commands except git's concern the data and permissions of a user. */
function serveAccount(
  deps: SshDeps,
  command: Exclude<Command, { kind: 'wrong path' | 'git' | 'lfs' }>,
  { viewer, ...client }: GitSession,
): Promise<number> {
  if (viewer.kind === 'deployKey') {
    if (command.kind === 'greet') {
      client.writeError(plainText(`hearth: This is the deploy key ${viewer.title}. It serves git alone.\n`));
      return Promise.resolve(0);
    }
    throw forbidden('deploy_key_serves_git', 'A deploy key gives access to git only.');
  }
  const session: AuthenticatedSession = { ...client, viewer };
  if (isAboutInbox(command)) return serveInboxCommand(deps, command, session);
  if (isAboutPulls(command)) return servePullCommand(deps, command, session);
  return isAboutIssues(command) ? serveIssueCommand(deps, command, session) : serveInfoCommand(deps, command, session);
}

const isAboutInbox = (command: Command): command is InboxCommand => command.kind.startsWith('inbox ');
const isAboutPulls = (command: Command): command is PullCommand => command.kind.startsWith('pull ');
const isAboutIssues = (command: Command): command is IssueCommand => command.kind.startsWith('issue ');

/** Nothing is looked up, so the response does not depend on the existence of the repository or its owner. */
function wrongPath({ config }: SshDeps, meant: { owner: string; name: string } | null, { port }: Client): string {
  const example = meant === null ? '' : `, here ${cloneAddress(config, port, meant)}`;
  return `hearth: there is no repository at this path; write OWNER/NAME${example}\n`;
}
