// The peer for pages: cgit behind nginx and fcgiwrap, from Debian's packages, and a folder of files from the same
// nginx.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { requirePrograms } from './require-programs.ts';
import { countingCgi, freePort, runNginx } from './nginx.ts';

const program = '/usr/lib/cgit/cgit.cgi';

/**
 * @param files a folder that is served as static files, below `/files/`
 * @param options.countProcessorTime costs a shell for every request
 */
export async function startCgit(
  folder: string,
  repository: string,
  files: string,
  { countProcessorTime = false } = {},
): Promise<{ url: string; cpuS(): number; stop(): void }> {
  requirePrograms({ nginx: 'nginx', fcgiwrap: 'fcgiwrap' });
  if (!existsSync(program)) throw new Error('cgit is missing. Install the package cgit');
  const port = await freePort();
  const place = path.join(folder, 'cgit');
  mkdirSync(place, { recursive: true });
  const socket = path.join(place, 'cgi.sock');
  writeFileSync(
    path.join(place, 'cgitrc'),
    [
      'virtual-root=/cgit',
      'enable-blame=1',
      'enable-http-clone=0',
      'cache-size=0',
      'repo.url=bench',
      `repo.path=${repository}`,
      'readme=:README.md',
      '',
    ].join('\n'),
  );
  const counting = countingCgi(place, program);
  const { pids, stop } = await runNginx(place, {
    socket,
    port,
    settings: 'default_type text/html;',
    locations: `location /files/ { alias ${files}/; }
    location ~ ^/cgit(/.*)$ {
      fastcgi_pass unix:${socket};
      fastcgi_param SCRIPT_FILENAME ${countProcessorTime ? counting.script : program};
      fastcgi_param CGIT_CONFIG ${place}/cgitrc;
      fastcgi_param PATH_INFO $1;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param HTTP_HOST $http_host;
      fastcgi_param HOME ${place};
    }`,
  });
  return { url: `http://127.0.0.1:${port}`, cpuS: () => counting.cpuS(pids), stop };
}
