import type { GpgKey } from '../../signing/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

interface GpgKeyView {
  id: string;
  /** User ids; each tells whether its address is a verified one of the owner. */
  userIds: { text: string; isOwn: boolean }[];
  /** In groups of four digits, in GnuPG's format. */
  fingerprint: string;
  keyId: string;
  algorithm: string;
  subkeys: string[];
  added: TimeView;
  /** A date without time; null when it never expires. */
  expires: string | null;
  isExpired: boolean;
  isRevoked: boolean;
  /** False when no user id is a verified address of the owner: then none of its signatures is verified. */
  isUseful: boolean;
}

const groups = (fingerprint: string): string => fingerprint.match(/.{1,4}/g)?.join(' ') ?? '';

/** @param own verified addresses of the owner among those of the key */
export function viewGpgKey(key: GpgKey, own: ReadonlySet<string>, now: number): GpgKeyView {
  const isOwn = (userId: string): boolean =>
    key.addresses.some((address) => own.has(address) && userId.includes(address));
  return {
    id: key.id,
    userIds: key.userIds.map((text) => ({ text: viewName(text), isOwn: isOwn(text) })),
    fingerprint: groups(key.fingerprint),
    keyId: key.keyId,
    algorithm: key.algorithm,
    subkeys: key.subkeys.map(({ keyId }) => keyId),
    added: viewTime(key.createdAt, now),
    expires: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString().slice(0, 10),
    isExpired: key.expiresAt !== null && key.expiresAt <= now,
    isRevoked: key.revoked,
    isUseful: key.addresses.some((address) => own.has(address)),
  };
}
