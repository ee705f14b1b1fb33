import type { Tx } from '../../db/index.ts';

/** The organisation that an invited user joins. */
export interface InviteJoins {
  organisationId: string;
  /** GUEST, MEMBER or OWNER. */
  role: string;
  /** Id of the user who invited; `null` for the command line. */
  invitedBy: string | null;
}

/** Called inside the transaction that creates an account from an invitation. */
export type SignUpHook = (tx: Tx, personId: string, joins: InviteJoins) => Promise<void>;
