// commitWith(work, parent, message) → {oid, pack}: one more commit on the history of sampleHistory.
import { execFileSync } from 'node:child_process';
import { clientEnvironment } from '../git/git-fixture.ts';
import { packOf } from '../git/push-fixture.ts';

export function makeCommit(work: string, parent: string, message: string): { oid: string; pack: Buffer } {
  const args = [`--git-dir=${work}`, 'commit-tree', `${parent}^{tree}`, '-p', parent, '-m', message];
  const oid = execFileSync('git', args, { env: clientEnvironment }).toString().trim();
  return { oid, pack: packOf(work, oid) };
}
