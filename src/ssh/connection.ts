import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import type { Connection, ServerChannel, Session } from 'ssh2';
import { authenticate } from './authenticate.ts';
import type { Identity } from './authenticate.ts';
import { channelInput, channelOutput } from './channel-streams.ts';
import type { Place } from './door.ts';
import type { SshLimits } from './limits.ts';
import { parseCommand } from './parse-command.ts';
import type { Command } from './parse-command.ts';
import type { SshRooms } from './rooms.ts';
import { runCommand } from './run-command.ts';
import { packetSizeOf, tellSignatureAlgorithms } from './ssh2-internals.ts';
import { signatureAlgorithms } from './verify-key.ts';

/** One client from its socket to its end. */
export interface Guest {
  /** The client has introduced itself; from here on ssh2 speaks for it. */
  meet(connection: Connection): void;
  /** Closes as soon as no command is running. */
  finish(): void;
  /** Closes at once. */
  leave(reason: string): void;
}

interface Needs {
  socket: Socket;
  address: string;
  place: () => Place;
  limits: SshLimits;
  rooms: SshRooms;
}

/** A client that may get more than this unread, in either direction, ignores the protocol. */
const maxUnreadBytes = 8 * 1024 * 1024;
/** The smallest packet that SSH programs have to take is 32 KiB; far below it lies only mischief. */
const minPacketBytes = 1_024;
/** Sessions that are closed before they ask for anything; ssh2 never forgets those. */
const maxEmptySessions = 16;
/** How long a client may take to close its side. */
const farewellMs = 1_000;

const gitProtocol = /^version=[012]$/;

/** Looks after one client: time limits, sign-in, its sessions, and a clean end of all that it started. */
export function createGuest({ socket, address, place, limits, rooms }: Needs): Guest {
  const logger = rooms.logger.child({ address });
  const gone = new AbortController();
  const channels = new Set<ServerChannel>();
  let connection: Connection | undefined;
  let identity: Identity | null = null;
  let openSessions = 0;
  let emptySessions = 0;
  let isFinishing = false;
  let idle: NodeJS.Timeout | undefined;
  const grace = setTimeout(() => leave('login_grace_over'), limits.loginGraceMs);

  socket.on('error', (error) => logger.debug('ssh.socket_error', { error }));
  // Before ssh2's own listener, which would end open channels as if the client had finished them.
  socket.once('close', () => {
    clearTimeout(grace);
    clearTimeout(idle);
    place().leave();
    gone.abort(new Error('the client is gone'));
  });
  socket.on('data', () => {
    place().heard();
    // ssh2 writes each packet in three pieces; what one tick answers leaves together.
    socket.cork();
    process.nextTick(() => socket.uncork());
    const unread = Math.max(socket.writableLength, ...[...channels].map((channel) => channel.readableLength));
    if (unread > maxUnreadBytes) leave('flow_control_ignored');
  });

  function leave(reason: string): void {
    if (socket.destroyed) return;
    logger.debug('ssh.closing', { reason });
    connection?.end();
    if (identity === null) socket.destroy();
    else setTimeout(() => socket.destroy(), farewellMs).unref();
  }

  function meet(met: Connection): void {
    connection = met;
    tellSignatureAlgorithms(connection, signatureAlgorithms);
    connection.on('error', (error) => {
      logger.debug('ssh.protocol_error', { error });
      leave('protocol_error');
    });
    authenticate(connection, { accounts: rooms.accounts, logger, limits, address }, {
      signedIn: (proven) => (identity = proven),
      gaveUp: leave,
    });
    connection.once('ready', () => {
      if (identity === null) return leave('nobody_signed_in');
      clearTimeout(grace);
      idle = setTimeout(() => leave('idle'), limits.idleMs);
      place().signedIn();
      logger.info('ssh.signed_in', { person: identity.viewer.id, keyId: identity.keyId });
    });
    connection.on('session', (accept, reject) => {
      if (identity === null || isFinishing || openSessions >= limits.channels) return reject();
      host(accept(), met, identity);
    });
  }

  /** Only environment, one command and the greeting; ssh2 refuses every request that has no listener. */
  function host(session: Session, around: Connection, { blob }: Identity): void {
    const closed = new AbortController();
    let protocol: string | null = null;
    let isEmpty = true;
    openSessions += 1;
    session.on('close', () => {
      openSessions -= 1;
      closed.abort(new Error('the client has closed the channel'));
      if (isEmpty && (emptySessions += 1) > maxEmptySessions) leave('empty_sessions');
      if (isFinishing) finish();
    });
    if (packetSizeOf(session) < minPacketBytes) return leave('packets_too_small');

    session.on('env', (accept, reject, { key, val }) => {
      const isWelcome = key === 'GIT_PROTOCOL' && gitProtocol.test(val);
      if (isWelcome) protocol = val;
      // Neither exists when the client wants no answer.
      (isWelcome ? accept : reject)?.();
    });
    const start = (channel: ServerChannel, command: Command | null) => {
      isEmpty = false;
      const signal = AbortSignal.any([gone.signal, closed.signal]);
      void serve(channel, command, { connection: around, blob, protocol, signal });
    };
    session.once('exec', (accept, _reject, { command }) => start(accept(), parseCommand(command)));
    session.once('shell', (accept) => start(accept(), { kind: 'greet' }));
  }

  async function serve(
    channel: ServerChannel,
    command: Command | null,
    { connection, blob, protocol, signal }: { connection: Connection; blob: Buffer; protocol: string | null; signal: AbortSignal },
  ): Promise<void> {
    const startedAt = rooms.clock.now();
    const onProgress = () => void idle?.refresh();
    const around = { connection, channel, signal, onProgress };
    channel.on('error', (error: Error) => logger.debug('ssh.channel_error', { error }));
    channel.stderr.on('error', (error) => logger.debug('ssh.channel_error', { error }));
    channels.add(channel);
    place().setBusy(true);

    const input = channelInput(around);
    const output = channelOutput({ ...around, stallMs: limits.stallMs, onStall: () => leave('stalled') });
    const exitCode = await runCommand(rooms, command, {
      blob, address, protocol, input, output, signal,
      port: socket.localPort ?? 0,
      complain: (line) => void channel.stderr.write(line),
    });
    await finished(output.end()).catch(() => {});
    input.destroy();
    if (!signal.aborted) {
      channel.exit(exitCode);
      channel.end();
    }
    channels.delete(channel);
    place().setBusy(channels.size > 0);
    onProgress();
    logger.info('ssh.command', { ...named(command), exitCode, aborted: signal.aborted, ms: rooms.clock.now() - startedAt });
  }

  function finish(): void {
    isFinishing = true;
    if (openSessions === 0) leave('server_is_stopping');
  }

  return { meet, finish, leave };
}

/** What a command line asked for, in words for the log; a line that was not understood is not repeated. */
function named(command: Command | null): Record<string, string> {
  if (command === null) return { command: 'not understood' };
  if (command.kind === 'git') return { command: `git-${command.service}`, repository: `${command.owner}/${command.name}` };
  return { command: command.kind };
}
