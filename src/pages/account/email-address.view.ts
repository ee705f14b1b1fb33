import type { EmailAddress } from '../../accounts/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

interface EmailAddressView {
  id: string;
  address: string;
  isPrimary: boolean;
  isPublic: boolean;
  /** Null while it is not verified. */
  verified: TimeView | null;
  added: TimeView;
}

export const viewEmailAddress = (
  { id, address, isPrimary, isPublic, verifiedAt, createdAt }: EmailAddress,
  now: number,
): EmailAddressView => ({
  id,
  address,
  isPrimary,
  isPublic,
  verified: verifiedAt === null ? null : viewTime(verifiedAt, now),
  added: viewTime(createdAt, now),
});
