// A program to be killed: `drain FOLDER` works off the queue of a data folder, `serve FOLDER PORT` is a whole Hearth.
// Says "ready" when it has begun, "done" when a drain has ended.
import { openFederation } from './federation-fixture.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startPeer } from './two-instances.ts';

const [, , what, folder = '', port = '0'] = process.argv;
const owner = { teardown(): void {} };

if (what === 'drain') {
  const clock = { ...fixedClock(), now: () => Date.now() };
  const { federation } = await openFederation(owner, { folder, clock });
  await federation.recover();
  process.send!('ready');
  await federation.drain();
  process.send!('done');
} else {
  await startPeer(owner, { host: '127.0.0.1', port: Number(port), allow: ['127.0.0.3'], folder });
  process.send!('ready');
}
