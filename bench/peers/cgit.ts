// The peer for pages: cgit behind nginx and fcgiwrap, from Debian's packages, and a folder of files from the same nginx.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { needPrograms } from './need-programs.ts';
import { freePort } from './nginx.ts';

const program = '/usr/lib/cgit/cgit.cgi';

/** @param files a folder that is served as it is, below `/files/` */
export async function startCgit(folder: string, repository: string, files: string): Promise<{ url: string; stop(): void }> {
  needPrograms({ nginx: 'nginx', fcgiwrap: 'fcgiwrap' });
  if (!existsSync(program)) throw new Error('cgit is missing. Install the package cgit');
  const port = await freePort();
  const place = path.join(folder, 'cgit');
  mkdirSync(place, { recursive: true });
  const socket = path.join(place, 'cgi.sock');
  writeFileSync(path.join(place, 'cgitrc'), ['virtual-root=/cgit', 'enable-blame=1', 'enable-http-clone=0', 'cache-size=0', 'repo.url=bench', `repo.path=${repository}`, 'readme=:README.md', ''].join('\n'));
  writeFileSync(
    path.join(place, 'nginx.conf'),
    `daemon off; pid ${place}/pid; error_log ${place}/error.log warn; worker_processes 2; ${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path ${place}/body; fastcgi_temp_path ${place}/fcgi;
  proxy_temp_path ${place}/proxy; uwsgi_temp_path ${place}/uwsgi; scgi_temp_path ${place}/scgi;
  keepalive_requests 1000000; default_type text/html;
  server {
    listen 127.0.0.1:${port};
    location /files/ { alias ${files}/; }
    location ~ ^/cgit(/.*)$ {
      fastcgi_pass unix:${socket};
      fastcgi_param SCRIPT_FILENAME ${program};
      fastcgi_param CGIT_CONFIG ${place}/cgitrc;
      fastcgi_param PATH_INFO $1;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param HTTP_HOST $http_host;
      fastcgi_param HOME ${place};
    }
  }
}
`,
  );
  const cgi = spawn('fcgiwrap', ['-c', '4', '-s', `unix:${socket}`], { stdio: 'ignore' });
  await sleep(200);
  const nginx = spawn('nginx', ['-p', place, '-c', path.join(place, 'nginx.conf')], { stdio: 'inherit' });
  await sleep(300);
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      nginx.kill('SIGTERM');
      cgi.kill('SIGTERM');
    },
  };
}
