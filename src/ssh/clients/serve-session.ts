import { finished } from 'node:stream/promises';
import type { Connection, ServerChannel, Session } from 'ssh2';
import type { Logger } from '../../kernel/index.ts';
import { channelInput, channelOutput } from './channel-streams.ts';
import type { SshLimits } from '../limits.ts';
import { parseCommand } from '../commands/parse-command.ts';
import type { Command } from '../commands/parse-command.ts';
import type { SshDeps } from '../deps.ts';
import { runCommand } from '../commands/run-command.ts';
import { packetSizeOf } from './ssh2-internals.ts';
import type { Client } from '../commands/session.ts';

/** The parts of a connection that a session uses. */
interface SessionContext extends Pick<Client, 'address' | 'port' | 'blob'> {
  connection: Connection;
  deps: SshDeps;
  logger: Logger;
  limits: SshLimits;
  /** Aborts when the socket is closed. */
  gone: AbortSignal;
  /** Closes the connection. */
  leave(reason: string): void;
  onProgress(): void;
  /**
   * Called when a command begins.
   * @param unreadBytes returns the size of the input that waits for the command
   * @returns a function to call when the command has ended
   */
  onBusy(unreadBytes: () => number): () => void;
  /**
   * @param isEmpty whether there was no request
   */
  onClose(isEmpty: boolean): void;
}

/** SSH programs must accept packets of 32 KiB (RFC 4253 §6.1); only an attacker sets a size this small. */
const minPacketBytes = 1_024;
const gitProtocol = /^version=[012]$/;

/** Message that sftp and scp show to their user: ssh2 alone would refuse them without one. */
const noFiles = 'hearth: there are no files to copy here; use git, or "git archive --remote"\n';

/**
 * Handles one session: environment variables, then one command or the greeting. Refuses terminals, X11 and agents, as
 * ssh2 refuses every request without a listener (security F03); a subsystem gets a message and is closed.
 */
export function serveSession(session: Session, around: SessionContext): void {
  const closed = new AbortController();
  let protocol: string | null = null;
  let isEmpty = true;
  session.on('close', () => {
    closed.abort(new Error('the client has closed the channel'));
    around.onClose(isEmpty);
  });
  if (packetSizeOf(session) < minPacketBytes) return around.leave('packets_too_small');

  session.on('env', (accept, reject, { key, val }) => {
    const isWelcome = key === 'GIT_PROTOCOL' && gitProtocol.test(val);
    if (isWelcome) protocol = val;
    // Neither exists if the client wants no reply.
    (isWelcome ? accept : reject)?.();
  });
  const start = (channel: ServerChannel, command: Command | null) => {
    isEmpty = false;
    void serve(channel, command, protocol, AbortSignal.any([around.gone, closed.signal]), around);
  };
  session.once('exec', (accept, _reject, { command }) => start(accept(), parseCommand(command)));
  session.once('shell', (accept) => start(accept(), { kind: 'greet' }));
  session.once('subsystem', (accept) => {
    isEmpty = false;
    const channel = accept();
    channel.on('error', (error: Error) => around.logger.debug('ssh.channel_error', { error }));
    channel.stderr.on('error', (error) => around.logger.debug('ssh.channel_error', { error }));
    channel.stderr.write(noFiles);
    channel.exit(1);
    channel.end();
  });
}

/** Runs the command with streams of its own, then sends its exit status. */
async function serve(
  channel: ServerChannel,
  command: Command | null,
  protocol: string | null,
  signal: AbortSignal,
  around: SessionContext,
): Promise<void> {
  const { connection, deps, logger, limits, address, port, blob, onProgress, leave } = around;
  const startedAt = deps.clock.now();
  channel.on('error', (error: Error) => logger.debug('ssh.channel_error', { error }));
  channel.stderr.on('error', (error) => logger.debug('ssh.channel_error', { error }));
  const ended = around.onBusy(() => channel.readableLength);

  const moved = { receivedBytes: 0, sentBytes: 0 };
  const counting = (way: keyof typeof moved) => (bytes: number) => {
    moved[way] += bytes;
    onProgress();
  };
  const ends = { connection, channel, signal };
  const input = channelInput({ ...ends, onProgress: counting('receivedBytes') });
  const output = channelOutput({
    ...ends,
    onProgress: counting('sentBytes'),
    stallMs: limits.stallMs,
    onStall: () => leave('stalled'),
  });
  const writeError = (line: string) => void channel.stderr.write(line);
  const exitCode = await runCommand(deps, command, {
    blob,
    address,
    port,
    protocol,
    input,
    output,
    // They are already encrypted, or were copied because a key exchange is in progress.
    takesBytesAtOnce: true,
    writeError,
    moved: () => moved,
    signal,
  });
  await finished(output.end()).catch(() => {});
  input.destroy();
  if (!signal.aborted) {
    channel.exit(exitCode);
    channel.end();
  }
  ended();
  onProgress();
  logger.info('ssh.command', {
    ...named(command),
    exitCode,
    aborted: signal.aborted,
    ms: deps.clock.now() - startedAt,
  });
}

/** The command for the log, which does not repeat unknown lines. */
function named(command: Command | null): Record<string, string> {
  if (command === null) return { command: 'not understood' };
  if (command.kind === 'lfs')
    return {
      command: `git-lfs-${command.program} ${command.operation}`,
      repository: `${command.owner}/${command.name}`,
    };
  if (command.kind === 'git')
    return { command: `git-${command.service}`, repository: `${command.owner}/${command.name}` };
  return { command: command.kind };
}
