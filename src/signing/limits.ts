/** Limits of OpenPGP keys and signatures. */
export const openPgpLimits = {
  /** Armored key as submitted: a maintainer's key of GnuPG with a hundred certifications has 60 KB. */
  keyBytes: 256 * 1024,
  /** Armored key as stored, without certifications by others. */
  storedBytes: 64 * 1024,
  userIds: 50,
  subkeys: 32,
  /** Armored signature; an RSA signature with 4096 bits has less than 1 KB. */
  signatureBytes: 16 * 1024,
  /** Headers and message of a commit or tag; larger ones are shown as not verified. */
  signedBytes: 1024 * 1024,
  /** Registered keys that a page examines, including copies registered by other users. */
  keysPerPage: 2_000,
} as const;

/** Limits of a task that reads one key. */
export const readKeyLimits = {
  // The library loads in 40 ms and an ordinary key takes 2 ms; a key of maximum size takes far less than a second.
  deadlineMs: 2_000,
  maxWaitMs: 5_000,
  maxInputBytes: openPgpLimits.keyBytes + 4_096,
  maxResultBytes: 256 * 1024,
} as const;

/** Limits of a task that verifies the signatures of one key on a page. */
export const verifyLimits = {
  // 2 ms for the key and 0.4 ms for each RSA or Ed25519 signature: 20 ms for a page of fifty.
  deadlineMs: 3_000,
  // Pages are not delayed further: signatures without a result in time are shown as not verified yet, and the page is
  // not cached.
  maxWaitMs: 3_000,
  maxInputBytes: 8 * 1024 * 1024,
  maxResultBytes: 256 * 1024,
} as const;
