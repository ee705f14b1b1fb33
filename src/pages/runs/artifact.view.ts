import type { ArtifactRow } from '../../ci/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewSize } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';

/** An artifact of a run, for its page. */
interface ArtifactView {
  id: number;
  name: string;
  url: string;
  size: string;
  /** First digits of the SHA-256 of the zip, and all of them. */
  digest: { short: string; full: string } | null;
  isGone: boolean;
  expires: TimeView;
}

export function viewArtifact(
  { id, name, sizeBytes, digest, state, expiresAt }: ArtifactRow,
  runUrl: string,
  now: number,
): ArtifactView {
  return {
    id,
    name: viewName(name),
    url: `${runUrl}/artifacts/${id}`,
    size: viewSize(sizeBytes),
    digest: digest === null ? null : { short: digest.slice(0, 12), full: digest },
    isGone: state !== 'ready',
    expires: viewTime(expiresAt, now),
  };
}
