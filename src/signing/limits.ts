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
  /** Keys registered here that a page looks at. */
  keysPerPage: 200,
} as const;

/** Limits of a task that reads one key. */
export const readKeyLimits = {
  // The library loads in 150 ms; a key of the largest size takes 300 ms.
  deadlineMs: 2_000,
  patienceMs: 5_000,
  maxInputBytes: openPgpLimits.keyBytes + 4_096,
  maxResultBytes: 256 * 1024,
} as const;

/** Limits of a task that verifies the signatures that a page shows and one key made. */
export const verifyLimits = {
  // A signature takes 2 ms, so a page takes 100 ms and the load of the library.
  deadlineMs: 3_000,
  // A page is not held up: it shows what it cannot verify in time as not verified yet, and is not cached.
  patienceMs: 3_000,
  maxInputBytes: 8 * 1024 * 1024,
  maxResultBytes: 256 * 1024,
} as const;
