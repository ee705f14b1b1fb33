import type { WebDeps } from '../web/index.ts';
import type { MetricFamily } from '../http/index.ts';

/** Images of other hosts in documents: how requests for them ended, and what is cached. No label names a host. */
export function collectImageMetrics({ imageProxy }: Pick<WebDeps, 'imageProxy'>): MetricFamily[] {
  const { files, bytes } = imageProxy.load();
  return [
    {
      name: 'remote_images_total',
      type: 'counter',
      help: 'Requests for images of other hosts, and fetches of them.',
      samples: Object.entries(imageProxy.counts()).map(([result, value]) => ({ labels: { result }, value })),
    },
    {
      name: 'remote_image_files',
      type: 'gauge',
      help: 'Images of other hosts in the cache.',
      samples: [{ value: files }],
    },
    { name: 'remote_image_bytes', type: 'gauge', help: 'Their size.', samples: [{ value: bytes }] },
  ];
}
