import type { CommitSignature } from '../../../git/index.ts';
import { rely } from '../../kept-pages/relied.ts';
import type { Relied } from '../../kept-pages/relied.ts';
import type { WebRooms } from '../../rooms.ts';
import { checkSeal, viewSeal } from '../../views/code/seal.ts';
import type { SealView } from '../../views/code/seal.ts';

interface ReadSeals {
  /** In the order of the question. */
  views: (SealView | null)[];
  /** A key may come to belong to somebody, or be taken away. */
  relied: Relied;
}

/** Checks the signatures that a page shows, and asks whose keys they are. */
export async function readSeals(
  { accounts }: Pick<WebRooms, 'accounts'>,
  seals: readonly (CommitSignature | null | undefined)[],
): Promise<ReadSeals> {
  const checked = seals.map(checkSeal);
  const fingerprints = checked.flatMap((one) => (one?.ssh?.isGood ? [one.ssh.fingerprint] : []));
  const relied = await rely(() => accounts.keyHolders(fingerprints));
  return { views: checked.map((one) => viewSeal(one, relied.value)), relied };
}
