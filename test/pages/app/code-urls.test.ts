import t from 'tap';
import { notUtf8 } from '../../fixtures/edge-case-repository.ts';
import { codeUrl, decodePath, encodePath } from '../../../src/pages/app/code-urls.ts';

t.test('addresses carry bytes there and back', async (t) => {
  const name = Buffer.concat([Buffer.from('a b%?#"&/'), notUtf8]);
  t.same(decodePath(encodePath(name)), name);
  t.equal(codeUrl('/r', 'blob', 'feature/x#1', Buffer.from('a?b')), '/r/blob/feature/x%231/a%3Fb');
});
