import type { Socket } from 'node:net';
import type { Connection } from 'ssh2';
import { networkPrefix } from '../../kernel/index.ts';
import { authenticate } from './authenticate-connection.ts';
import type { Identity } from './authenticate-connection.ts';
import { makeCiphersCheaper } from './cheaper-ciphers.ts';
import type { ConnectionLimiter } from '../connection-limiter.ts';
import { serveSession } from './serve-session.ts';
import type { SshLimits } from '../limits.ts';
import type { SshDeps } from '../deps.ts';
import { offerMlkem } from './mlkem-key-exchange.ts';
import { describeRefusedChannels, sendDisconnectReason, sendSignatureAlgorithms } from './ssh2-internals.ts';
import { signatureAlgorithms } from '../keys/verify-key.ts';

/** One client, from its socket to its end. */
export interface ClientConnection {
  /** Called when the client has identified itself; from here on ssh2 handles the connection. */
  meet(connection: Connection): void;
  /** Closes as soon as no session is open. */
  finish(): void;
}

interface Needs {
  socket: Socket;
  address: string;
  limiter: ConnectionLimiter;
  /** Passes the socket to ssh2 once the limiter admits it. */
  begin(): void;
  limits: SshLimits;
  deps: SshDeps;
}

/** Limit of unread or unsolicited bytes; a client that exceeds it violates the protocol. */
const maxUnreadBytes = 8 * 1024 * 1024;
/** Limit of sessions that are closed without a request; ssh2 never frees those. */
const maxEmptySessions = 16;
/** Time that a client may take to close its side. */
const disconnectMs = 1_000;
/** Reasons on which a client's user can act: the code of RFC 4253 §11.1, and a message. */
const disconnectReasons: Readonly<Record<string, { code: number; words: string }>> = {
  account_full: {
    code: 12,
    words: 'Too many connections of your account. Close those that are idle, or try again later.',
  },
  too_many_tries: { code: 14, words: 'Too many authentication failures' },
};

/** Manages one client: its connection slot, time limits, authentication, sessions, and cleanup. */
export function createClientConnection({ socket, address, limiter, begin, limits, deps }: Needs): ClientConnection {
  const logger = deps.logger.child({ address });
  const gone = new AbortController();
  /** Unread input bytes of each running command. */
  const unread = new Set<() => number>();
  let connection: Connection | undefined;
  let identity: Identity | null = null;
  let openSessions = 0;
  let emptySessions = 0;
  let isFinishing = false;
  let isLeaving = false;
  let idle: NodeJS.Timeout | undefined;
  const grace = setTimeout(() => leave('login_grace_over'), limits.loginGraceMs);

  socket.on('error', (error) => logger.debug('ssh.socket_error', { error }));
  // Before ssh2's own listener, which ends open channels as if the client had finished them.
  socket.once('close', () => {
    clearTimeout(grace);
    clearTimeout(idle);
    idle = undefined;
    slot.leave();
    gone.abort(new Error('the client is gone'));
  });
  socket.on('data', () => {
    slot.bytesReceived();
    // ssh2 writes each packet in three parts; all output of one tick is sent together.
    socket.cork();
    process.nextTick(() => socket.uncork());
    if (Math.max(socket.writableLength, ...[...unread].map((bytes) => bytes())) > maxUnreadBytes)
      leave('flow_control_ignored');
  });
  const slot = limiter.arrive({ address: networkPrefix(address), begin, reject: leave });

  function leave(reason: string): void {
    if (socket.destroyed || isLeaving) return;
    logger.debug('ssh.closing', { reason });
    isLeaving = true;
    const sent = disconnectReasons[reason];
    if (sent !== undefined && connection !== undefined) sendDisconnectReason(connection, sent.code, sent.words);
    connection?.end();
    if (identity === null && sent === undefined) socket.destroy();
    else setTimeout(() => socket.destroy(), disconnectMs).unref();
  }

  function meet(met: Connection): void {
    connection = met;
    offerMlkem(met);
    makeCiphersCheaper(met, socket);
    sendSignatureAlgorithms(met, signatureAlgorithms);
    describeRefusedChannels(met, 'hearth: there are no tunnels here; this server speaks git');
    met.on('error', (error) => {
      logger.debug('ssh.protocol_error', { error });
      leave('protocol_error');
    });
    const refusals = authenticate(
      met,
      { accounts: deps.accounts, logger, limits, address },
      {
        signedIn(signedIdentity) {
          // Skipped between the decision to disconnect and the end.
          if (!isLeaving) identity = signedIdentity;
        },
        gaveUp: leave,
      },
    );
    met.once('close', () => {
      if (identity === null && refusals.length > 0) logger.info('ssh.not_signed_in', { refusals });
    });
    // A key exchange can cost the server five milliseconds of CPU time and the client none: before sign-in, only one is
    // allowed.
    met.on('rekey', () => {
      if (identity === null) leave('new_keys_before_sign_in');
    });
    met.once('ready', () => {
      if (identity === null) return leave('nobody_signed_in');
      clearTimeout(grace);
      idle = setTimeout(() => leave('idle'), limits.idleMs);
      if (!slot.signedIn(identity.viewer.id)) return;
      logger.info('ssh.signed_in', { person: identity.viewer.id, keyId: identity.keyId });
    });
    met.on('session', (accept, reject) => {
      if (identity === null || isFinishing || isLeaving || openSessions >= limits.channels) return reject();
      openSessions += 1;
      serveSession(accept(), {
        connection: met,
        logger,
        deps,
        address,
        limits,
        leave,
        port: socket.localPort ?? 0,
        blob: identity.blob,
        gone: gone.signal,
        onProgress: () => void idle?.refresh(),
        onBusy(bytes) {
          unread.add(bytes);
          slot.setBusy(true);
          return () => {
            unread.delete(bytes);
            slot.setBusy(unread.size > 0);
          };
        },
        onClose(isEmpty) {
          openSessions -= 1;
          if (isEmpty && (emptySessions += 1) > maxEmptySessions) leave('empty_sessions');
          if (isFinishing) finish();
        },
      });
    });
  }

  function finish(): void {
    isFinishing = true;
    if (openSessions === 0) leave('server_is_stopping');
  }

  return { meet, finish };
}
