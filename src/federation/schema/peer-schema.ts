import { EntitySchema } from 'typeorm';

/** Known state of another server. Times are milliseconds since the epoch. */
export interface PeerRow {
  /** Host and non-default port. */
  host: string;
  /** Time when two administrators paired the servers: an entry of the allowlist. */
  pairedAt: number | null;
  /** Time of its pairing request with a local code; an administrator must confirm it. */
  askedAt: number | null;
  lastSuccessAt: number | null;
  lastErrorAt: number | null;
  lastError: string | null;
  /** Consecutive failures. */
  failures: number;
  /** Time until which only previously attempted deliveries are retried. */
  retryAt: number;
  /** Time since which attempts got no response; null after the next response. */
  silentSince: number | null;
  /** Time when deliveries to it ended; its next request or response resets this. */
  goneAt: number | null;
  /** Software name from its NodeInfo, in lower case; null if it has none. */
  software: string | null;
  /** Time when the NodeInfo was read. */
  softwareAt: number | null;
  /** Whether its followers get notes; null for pushes. */
  reads: 'note' | null;
  /** Time when an actor there first followed a local subject while the server was unlisted. */
  openAt: number | null;
  /** Signature scheme of requests to it; null for the usual one. */
  scheme: 'rfc9421' | null;
}

/** A code that lets one other server request pairing; only its hash is stored. */
interface PairingCodeRow {
  codeHash: string;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
}

export const peerSchema = new EntitySchema<PeerRow>({
  name: 'federationPeer',
  tableName: 'federation_peers',
  columns: {
    host: { type: 'text', primary: true },
    pairedAt: { name: 'paired_at', type: 'integer', nullable: true },
    askedAt: { name: 'asked_at', type: 'integer', nullable: true },
    lastSuccessAt: { name: 'last_success_at', type: 'integer', nullable: true },
    lastErrorAt: { name: 'last_error_at', type: 'integer', nullable: true },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    failures: { type: 'integer' },
    retryAt: { name: 'retry_at', type: 'integer' },
    silentSince: { name: 'silent_since', type: 'integer', nullable: true },
    goneAt: { name: 'gone_at', type: 'integer', nullable: true },
    software: { type: 'text', nullable: true },
    softwareAt: { name: 'software_at', type: 'integer', nullable: true },
    reads: { type: 'text', nullable: true },
    openAt: { name: 'open_at', type: 'integer', nullable: true },
    scheme: { type: 'text', nullable: true },
  },
});

export const pairingCodeSchema = new EntitySchema<PairingCodeRow>({
  name: 'federationPairingCode',
  tableName: 'federation_pairing_codes',
  columns: {
    codeHash: { name: 'code_hash', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
    usedAt: { name: 'used_at', type: 'integer', nullable: true },
  },
});
