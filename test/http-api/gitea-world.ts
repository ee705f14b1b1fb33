import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

/** Calls the API with one Authorization header. */
export function callerOf(web: Web, authorization: string | null) {
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(authorization !== null && { Authorization: authorization }),
        ...(text && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
        ...headers,
      },
      ...(text && { body: text }),
    });
    const isJson = /json/.test(String(response.headers['content-type'] ?? ''));
    return { ...response, json: isJson && response.body !== '' ? JSON.parse(response.body) : null };
  };
}

/** alice administers the server and has the public site and the private cellar; bob and carol are users. */
export async function openWorld(t: Owner, env: Record<string, string> = {}) {
  const web = await startWeb(t, { env });
  const { accounts } = web.modules;
  const tokenOf = async (username: string, access: 'read' | 'write' | 'admin' = 'admin') => {
    const { id } = await accounts
      .personByUsername(username)
      .catch(() => accounts.addPerson({ username, isAdministrator: username === 'alice' }));
    const token = { name: `${access} ${Math.random()}`, access, repositoryIds: null, expiresAt: null };
    return callerOf(web, `token ${(await accounts.addToken(id, token)).secret}`);
  };
  const [alice, bob, carol] = [await tokenOf('alice'), await tokenOf('bob'), await tokenOf('carol')];
  await alice('POST', '/user/repos', { name: 'site', private: false, auto_init: true });
  await alice('POST', '/user/repos', { name: 'cellar', auto_init: true });
  return { web, alice, bob, carol, tokenOf, anonymous: callerOf(web, null) };
}
