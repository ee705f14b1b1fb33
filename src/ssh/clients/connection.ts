import type { Socket } from 'node:net';
import type { Connection } from 'ssh2';
import { addressGroup } from '../address-group.ts';
import { authenticate } from './authenticate.ts';
import type { Identity } from './authenticate.ts';
import type { ConnectionLimiter } from '../connection-limiter.ts';
import { hostSession } from './host-session.ts';
import type { SshLimits } from '../limits.ts';
import type { SshDeps } from '../deps.ts';
import { offerMlkem } from './mlkem-key-exchange.ts';
import { tellReason, tellSignatureAlgorithms } from './ssh2-internals.ts';
import { signatureAlgorithms } from '../keys/verify-key.ts';

/** One client from its socket to its end. */
export interface ClientConnection {
  /** The client has introduced itself; from here on ssh2 speaks for it. */
  meet(connection: Connection): void;
  /** Closes as soon as no session is open. */
  finish(): void;
}

interface Needs {
  socket: Socket;
  address: string;
  door: ConnectionLimiter;
  /** Hands the socket to ssh2, when the door says so. */
  begin(): void;
  limits: SshLimits;
  deps: SshDeps;
}

/** A client that leaves more than this unread, or sends more than this unasked, ignores the protocol. */
const maxUnreadBytes = 8 * 1024 * 1024;
/** Sessions that are closed before they ask for anything; ssh2 never forgets those. */
const maxEmptySessions = 16;
/** How long a client may take to close its side. */
const disconnectMs = 1_000;
/** Reasons that a client's user can do something about: the code of RFC 4253 §11.1, and words. */
const toldReasons: Readonly<Record<string, { code: number; words: string }>> = {
  account_full: {
    code: 12,
    words: 'Too many connections of your account. Close those that are idle, or try again later.',
  },
  too_many_tries: { code: 14, words: 'Too many authentication failures' },
};

/** Looks after one client: its place at the door, time limits, sign-in, sessions, and a clean end of all of it. */
export function createClientConnection({ socket, address, door, begin, limits, deps }: Needs): ClientConnection {
  const logger = deps.logger.child({ address });
  const gone = new AbortController();
  /** How many bytes each running command has not read yet. */
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
    place.leave();
    gone.abort(new Error('the client is gone'));
  });
  socket.on('data', () => {
    place.heard();
    // ssh2 writes each packet in three pieces; what one tick answers leaves together.
    socket.cork();
    process.nextTick(() => socket.uncork());
    if (Math.max(socket.writableLength, ...[...unread].map((bytes) => bytes())) > maxUnreadBytes)
      leave('flow_control_ignored');
  });
  const place = door.arrive({ address: addressGroup(address), begin, reject: leave });

  function leave(reason: string): void {
    if (socket.destroyed || isLeaving) return;
    logger.debug('ssh.closing', { reason });
    isLeaving = true;
    const told = toldReasons[reason];
    if (told !== undefined && connection !== undefined) tellReason(connection, told.code, told.words);
    connection?.end();
    if (identity === null && told === undefined) socket.destroy();
    else setTimeout(() => socket.destroy(), disconnectMs).unref();
  }

  function meet(met: Connection): void {
    connection = met;
    offerMlkem(met);
    tellSignatureAlgorithms(met, signatureAlgorithms);
    met.on('error', (error) => {
      logger.debug('ssh.protocol_error', { error });
      leave('protocol_error');
    });
    const refusals = authenticate(
      met,
      { accounts: deps.accounts, logger, limits, address },
      {
        signedIn(proven) {
          // Not in the moment between being told to go and being gone.
          if (!isLeaving) identity = proven;
        },
        gaveUp: leave,
      },
    );
    met.once('close', () => {
      if (identity === null && refusals.length > 0) logger.info('ssh.not_signed_in', { refusals });
    });
    // An exchange of keys can cost the server five milliseconds and the client none: one is enough to sign in.
    met.on('rekey', () => {
      if (identity === null) leave('new_keys_before_sign_in');
    });
    met.once('ready', () => {
      if (identity === null) return leave('nobody_signed_in');
      clearTimeout(grace);
      idle = setTimeout(() => leave('idle'), limits.idleMs);
      if (!place.signedIn(identity.viewer.id)) return;
      logger.info('ssh.signed_in', { person: identity.viewer.id, keyId: identity.keyId });
    });
    met.on('session', (accept, reject) => {
      if (identity === null || isFinishing || isLeaving || openSessions >= limits.channels) return reject();
      openSessions += 1;
      hostSession(accept(), {
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
          place.setBusy(true);
          return () => {
            unread.delete(bytes);
            place.setBusy(unread.size > 0);
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
