/** How much a client may take before the server stops being patient (security §2.2). */
export interface SshLimits {
  /** From the first byte of TCP to a proven key. */
  loginGraceMs: number;
  /** Refused sign-in attempts per connection. A key that is only probed and known costs none. */
  loginTries: number;
  /** Connections that have not signed in and are being served; further ones wait in line. */
  arriving: number;
  /** Connections of one address that are being served, signed in or not. */
  perAddress: number;
  /** Connections in line for one of the places above. */
  waiting: number;
  /** While others wait: a connection that never said a word loses its place after this time… */
  silentMs: number;
  /** …and one that said something and then fell quiet after this time. */
  quietMs: number;
  /** Connections of one account that are being served, from whatever addresses. */
  perAccount: number;
  /** All sockets together. */
  connections: number;
  /** Sessions open at the same time on one connection. git uses one, a shared connection (ControlMaster) many. */
  channels: number;
  keepaliveMs: number;
  /** Unanswered keepalives after which the client counts as gone. */
  keepalivesMissed: number;
  /** A signed-in connection that neither sends nor receives anything is closed after this time. */
  idleMs: number;
  /** A client that stops reading while the server has something to send loses its place after this time. */
  stallMs: number;
}

export const defaultLimits: Readonly<SshLimits> = Object.freeze({
  loginGraceMs: 20_000,
  loginTries: 6,
  arriving: 20,
  perAddress: 10,
  waiting: 64,
  silentMs: 500,
  quietMs: 2_000,
  // An eighth of all connections: seven others find room beside one who takes all that they can get.
  perAccount: 62,
  connections: 500,
  // As OpenSSH's MaxSessions. What a client may make the server hold for one is bounded in clients/guest.ts.
  channels: 10,
  keepaliveMs: 30_000,
  keepalivesMissed: 4,
  idleMs: 600_000,
  stallMs: 60_000,
});
