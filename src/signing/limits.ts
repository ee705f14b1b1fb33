/** Limits of OpenPGP keys and signatures. */
export const openPgpLimits = {
  /** Armour of a key as it is given: GnuPG's key of a maintainer with a hundred certifications has 60 KB. */
  keyBytes: 256 * 1024,
  /** Armour without the certifications of others, as it is stored. */
  storedBytes: 64 * 1024,
  userIds: 50,
  subkeys: 32,
  /** Armour of a signature; one of RSA with 4096 bits has under 1 KB. */
  signatureBytes: 16 * 1024,
  /** A commit's headers and message, or a tag: what is larger is shown as not verified. */
  signedBytes: 1024 * 1024,
  /** Keys registered here that a page looks at: its own, and copies that other people registered. */
  keysPerPage: 2_000,
} as const;

/** Limits of a task that reads one key. */
export const readKeyLimits = {
  // The library loads in 40 ms, an ordinary key takes 2 ms; one of the largest size is far below a second.
  deadlineMs: 2_000,
  maxWaitMs: 5_000,
  maxInputBytes: openPgpLimits.keyBytes + 4_096,
  maxResultBytes: 256 * 1024,
} as const;

/** Limits of a task that verifies the signatures that a page shows and one key made. */
export const verifyLimits = {
  // 2 ms for the key and 0.4 ms for each signature of RSA or Ed25519: 20 ms for a page of fifty.
  deadlineMs: 3_000,
  // A page is not held up: it shows what it cannot verify in time as not verified yet, and is not cached.
  maxWaitMs: 3_000,
  maxInputBytes: 8 * 1024 * 1024,
  maxResultBytes: 256 * 1024,
} as const;
