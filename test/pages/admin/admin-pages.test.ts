import t from 'tap';
import { startAdminWeb } from '../../fixtures/admin-web-fixture.ts';

const { administrator, member } = await startAdminWeb(t);
const pages = ['health', 'people', 'repositories', 'jobs', 'mail', 'settings', 'audit'];

t.test('the pages are there for administrators only', async (t) => {
  for (const page of pages) {
    const { status, body } = await administrator.get(`/admin/${page}`);
    t.equal(status, 200, page);
    t.match(body, `href="/admin/${page}" aria-current="page"`, `${page} marks itself`);
    t.equal((await member.get(`/admin/${page}`)).status, 404, page);
  }
});
