/** Limits of the SSH server. */
export interface SshLimits {
  /** Time from the TCP connection to a verified signature. */
  loginGraceMs: number;
  /** Refused sign-in attempts per connection. Queries about a known key do not count. */
  maxAuthTries: number;
  /** Connections served before sign-in; further ones are queued. */
  arriving: number;
  /** Connections served per address, signed in or not. */
  perAddress: number;
  /** Length of the queue for these slots. */
  waiting: number;
  /** While there is a queue: time after which a connection that never sent a byte loses its slot… */
  silentMs: number;
  /** …and one that sent data and then became quiet. */
  quietMs: number;
  /** Connections per account, from all addresses. */
  perAccount: number;
  /** Limit of all sockets together. */
  connections: number;
  /** Concurrent sessions of one connection. git uses one, a shared connection (ControlMaster) many. */
  channels: number;
  keepaliveMs: number;
  /** Unanswered keepalives after which the connection counts as lost. */
  keepalivesMissed: number;
  /** Time after which a signed-in connection without traffic is closed. */
  idleMs: number;
  /** Time after which a client that stops reading while output is pending loses its slot. */
  stallMs: number;
}

export const defaultLimits: Readonly<SshLimits> = Object.freeze({
  loginGraceMs: 20_000,
  maxAuthTries: 6,
  arriving: 20,
  perAddress: 10,
  waiting: 64,
  silentMs: 500,
  quietMs: 2_000,
  // An eighth of all connections: one account at its limit allows seven others.
  perAccount: 62,
  connections: 500,
  // Same as OpenSSH's MaxSessions. src/ssh/clients/connection.ts limits the buffer of each.
  channels: 10,
  keepaliveMs: 30_000,
  keepalivesMissed: 4,
  idleMs: 600_000,
  stallMs: 60_000,
});
