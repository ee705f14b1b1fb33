// The HTTP peer: nginx, fcgiwrap and git's own http-backend, from Debian's packages.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOfTree } from '../process-usage.ts';
import { requirePrograms } from './require-programs.ts';

export interface Peer {
  /** CPU seconds so far. */
  cpuS(): number;
  stop(): void;
}

const backend = '/usr/lib/git-core/git-http-backend';

/** Sums the output of bash's `time`: user and system seconds, a line for each request. */
function childSeconds(text: string): number {
  return [...text.matchAll(/^([\d.]+) ([\d.]+)$/gm)].reduce(
    (sum, [, user, system]) => sum + Number(user) + Number(system),
    0,
  );
}

/**
 * A CGI program that records its CPU time: fcgiwrap does not wait for that of its children. In milliseconds: `times` of
 * other shells counts in hundredths and drops the rest, which is half of a small request. It costs a shell for every
 * request: where throughput is measured, leave it off.
 */
export function countingCgi(place: string, program: string): { script: string; cpuS(pids: number[]): number } {
  const [script, times] = [path.join(place, 'counting'), path.join(place, 'times')];
  writeFileSync(times, '');
  writeFileSync(script, `#!/bin/bash\nTIMEFORMAT='%3U %3S'\nexec 3>&2\n{ time ${program} 2>&3; } 2>> ${times}\n`, {
    mode: 0o755,
  });
  return { script, cpuS: (pids) => cpuOfTree(pids) + childSeconds(readFileSync(times, 'utf8')) };
}

export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

interface NginxServer {
  /** The socket of fcgiwrap. */
  socket: string;
  port: number;
  /** For the http section. */
  settings?: string;
  /** The location blocks. */
  locations: string;
}

/** Starts nginx, and fcgiwrap behind it, with all their files below `place`. */
export async function runNginx(
  place: string,
  { socket, port, settings = '', locations }: NginxServer,
): Promise<{ pids: number[]; stop(): void }> {
  writeFileSync(
    path.join(place, 'nginx.conf'),
    `daemon off; pid ${place}/pid; error_log ${place}/error.log warn; worker_processes 2; ${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 256; }
http {
  access_log off; client_body_temp_path ${place}/body; fastcgi_temp_path ${place}/fcgi;
  proxy_temp_path ${place}/proxy; uwsgi_temp_path ${place}/uwsgi; scgi_temp_path ${place}/scgi;
  keepalive_requests 1000000; ${settings}
  server {
    listen 127.0.0.1:${port};
    ${locations}
  }
}
`,
  );
  // A process group of its own: its four workers would outlive it otherwise.
  const cgi = spawn('fcgiwrap', ['-c', '4', '-s', `unix:${socket}`], { stdio: 'ignore', detached: true });
  await sleep(200);
  const nginx = spawn('nginx', ['-p', place, '-c', path.join(place, 'nginx.conf')], { stdio: 'inherit' });
  await sleep(300);
  return {
    pids: [nginx.pid!, cgi.pid!],
    stop() {
      nginx.kill('SIGTERM');
      if (cgi.pid !== undefined) process.kill(-cgi.pid, 'SIGTERM');
    },
  };
}

/**
 * @param root folder of bare repositories, served below `/git/`
 * @param gitConfig the git settings of the other side, so that both run the same
 */
export async function startNginx(
  folder: string,
  root: string,
  gitConfig: string,
  { countProcessorTime = true } = {},
): Promise<Peer & { url: string }> {
  requirePrograms({ nginx: 'nginx', fcgiwrap: 'fcgiwrap' });
  const port = await freePort();
  const place = path.join(folder, 'nginx');
  mkdirSync(place, { recursive: true });
  const socket = path.join(place, 'cgi.sock');
  const counting = countingCgi(place, backend);
  const script = countProcessorTime ? counting.script : backend;
  const { pids, stop } = await runNginx(place, {
    socket,
    port,
    settings: 'client_max_body_size 0;',
    locations: `location ~ ^/git(/.*)$ {
      fastcgi_pass unix:${socket};
      fastcgi_buffering off; fastcgi_request_buffering off; fastcgi_read_timeout 900s;
      fastcgi_param SCRIPT_FILENAME ${script};
      fastcgi_param GIT_PROJECT_ROOT ${root};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_CONFIG_NOSYSTEM 1;
      fastcgi_param GIT_CONFIG_GLOBAL ${gitConfig};
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
      fastcgi_param PATH_INFO $1;
      fastcgi_param REMOTE_USER alice;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
    }`,
  });
  return {
    url: `http://127.0.0.1:${port}`,
    cpuS: () => counting.cpuS(pids),
    stop,
  };
}
