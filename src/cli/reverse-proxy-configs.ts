import { allocatorSettings } from './serving/systemd-unit.ts';

/** The servers behind a proxy, and the proxy's public address. */
interface Places {
  host: string;
  /** The port of the public address. */
  port: number;
  /** Ports of `http.listen` and `grpc.listen`. */
  web: number;
  grpc: number;
}

/** The name, with the port unless it is the https default. */
const withPort = ({ host, port }: Places): string => (port === 443 ? host : `${host}:${port}`);

/** The port for native gRPC, if it differs from that of the pages. */
const grpcPort = ({ port }: Places): number => (port === 8443 ? 9443 : 8443);

const redirectToHttps = ({ host }: Places): string => `server {
    listen 80;
    listen [::]:80;
    server_name ${host};
    location / {
        return 301 https://$host$request_uri;
    }
}

`;

/**
 * Configurations of reverse proxies; the files in `packaging/` are these texts for git.example.org with the default
 * ports.
 */
export const reverseProxyConfigs: Readonly<Record<'caddy' | 'nginx' | 'traefik', (places: Places) => string>> = {
  caddy: (
    places,
  ) => `# Caddy asks for a certificate by itself and passes everything on as it came: large bodies, streams, Host, the
# address of the client and the scheme.
# Without a public name: a line "tls internal" below each name, with a certificate of Caddy's own authority.
${withPort(places)} {
	reverse_proxy 127.0.0.1:${places.web}
}

# Only for runners that speak native gRPC; all others use the address above. grpc.listen is behind it.
grpc.${withPort(places)} {
	reverse_proxy h2c://127.0.0.1:${places.grpc}
}
`,
  nginx: (
    places,
  ) => `# For the http section of nginx, for example as /etc/nginx/conf.d/hearth.conf. On a machine without IPv6, leave out
# the lines with [::].
# certbot keeps its certificates as /etc/letsencrypt/live/${places.host}/fullchain.pem and privkey.pem.
${places.port === 443 ? redirectToHttps(places) : ''}server {
    listen ${places.port} ssl http2;
    listen [::]:${places.port} ssl http2;
    server_name ${places.host};
    ssl_certificate     /etc/ssl/${places.host}.pem;
    ssl_certificate_key /etc/ssl/${places.host}.key;

    location / {
        # No path and no slash at the end: nginx would rewrite addresses, and signatures of other servers cover them.
        proxy_pass http://127.0.0.1:${places.web};
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-For $remote_addr;
        # Pushes are as large as they are, and neither they nor clones go through files of nginx.
        client_max_body_size 0;
        proxy_request_buffering off;
        proxy_buffering off;
        proxy_read_timeout 1h;
        proxy_send_timeout 1h;
    }
}

# Only for runners that speak native gRPC; all others use the address above. grpc.listen is behind it.
server {
    listen ${grpcPort(places)} ssl http2;
    listen [::]:${grpcPort(places)} ssl http2;
    server_name ${places.host};
    ssl_certificate     /etc/ssl/${places.host}.pem;
    ssl_certificate_key /etc/ssl/${places.host}.key;

    location / {
        grpc_pass grpc://127.0.0.1:${places.grpc};
        client_max_body_size 0;
        grpc_read_timeout 1h;
        grpc_send_timeout 1h;
    }
}
`,
  traefik: (places) => `# The static part: without the longer time, pushes of more than a minute are cut.
entryPoints:
  websecure:
    address: ":${places.port}"
    transport:
      respondingTimeouts:
        readTimeout: 1h
providers:
  file:
    filename: /etc/traefik/hearth.yml

# The dynamic part, /etc/traefik/hearth.yml:
# http:
#   routers:
#     hearth:
#       rule: Host(\`${places.host}\`)
#       entryPoints: [websecure]
#       service: hearth
#       tls: { certResolver: letsencrypt }
#     # Only for runners that speak native gRPC; all others use the address above. grpc.listen is behind it.
#     hearth-grpc:
#       rule: Host(\`grpc.${places.host}\`)
#       entryPoints: [websecure]
#       service: hearth-grpc
#       tls: { certResolver: letsencrypt }
#   services:
#     hearth:
#       loadBalancer:
#         servers: [{ url: "http://127.0.0.1:${places.web}" }]
#     hearth-grpc:
#       loadBalancer:
#         servers: [{ url: "h2c://127.0.0.1:${places.grpc}" }]
`,
};

/** A container image around the executable; packaging/Containerfile is this text. */
export const containerFile = `# hearth in a container, from a folder with the executable as dist/hearth (scripts/build-executable makes it):
#   podman build --format docker -f packaging/Containerfile -t hearth .      (without --format, no HEALTHCHECK)
#   podman run -d -p 3000:3000 -p 2222:2222 -v hearth:/data hearth
FROM docker.io/library/debian:bookworm-slim
RUN apt-get update \\
 && apt-get install -y --no-install-recommends git openssh-client ca-certificates tini \\
 && rm -rf /var/lib/apt/lists/* \\
 && useradd --uid 1000 --home-dir /data --no-create-home --shell /usr/sbin/nologin hearth
COPY dist/hearth /usr/local/bin/hearth
# Any user may run it: with --user, only the volume has to belong to them; mirrors by ssh need one who
# stands in /etc/passwd, as ssh itself does, so 1000 has an entry. The root
# file system may be read-only: --read-only --tmpfs /tmp
ENV SERVICE_DATA_DIR=/data HOME=/data ${allocatorSettings}
RUN install -d -o 1000 -g 1000 -m 0700 /data
USER 1000:1000
VOLUME /data
EXPOSE 3000 2222 3001
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["hearth", "health"]
# tini takes up the git processes that outlive their parents.
ENTRYPOINT ["/usr/bin/tini", "--", "hearth"]
CMD ["serve"]
`;
