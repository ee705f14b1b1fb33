import t from 'tap';
import { startAdminWeb } from '../../fixtures/admin-web-fixture.ts';

const { administrator } = await startAdminWeb(t);

t.test('settings are shown with their origins, secrets are not', async (t) => {
  const { body } = await administrator.get('/admin/settings');
  t.match(body, /metrics\.token[^]*••••/);
  t.notMatch(body, 'canary-token');
});
