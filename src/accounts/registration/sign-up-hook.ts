import type { Tx } from '../../db/index.ts';

/** The organisation that an invitation lets its new person join. */
export interface InviteJoins {
  organisationId: string;
  /** GUEST, MEMBER or OWNER. */
  role: string;
  /** Id of the person who invited; `null` on the command line. */
  invitedBy: string | null;
}

/** Called inside the write that makes an account from an invitation. */
export type SignUpHook = (tx: Tx, personId: string, joins: InviteJoins) => Promise<void>;
