import { option, section } from './define.ts'
import { address, link, secret } from './shapes.ts'

export const server = section(
  { name: 'server', tab: 'system', label: { zh: '通用设置', en: 'General settings' }, writer: 'root' },
  {
    ServerAddress: option({
      ...address(),
      label: { zh: '服务器地址', en: 'Server address' },
      help: {
        zh: '本站对外的地址，例如 https://example.com；用于邮件、回调和图片链接。',
        en: 'Public URL of this site, e.g. https://example.com. Used in emails, callbacks and image links.',
      },
    }),
  },
)

export const worker = section(
  {
    name: 'worker',
    tab: 'system',
    label: { zh: '代理设置', en: 'Worker settings' },
    help: { zh: '仅用于获取图片和发送 Webhook。', en: 'Used only to fetch images and send webhooks.' },
    writer: 'root',
  },
  {
    WorkerUrl: option({
      ...address(),
      label: { zh: 'Worker 地址', en: 'Worker URL' },
      help: {
        zh: '代为发出请求的 Worker；留空则直接请求。',
        en: 'Worker that sends requests on behalf of this site. Leave blank to send requests directly.',
      },
    }),
    WorkerValidKey: option({
      ...secret(),
      label: { zh: 'Worker 密钥', en: 'Worker key' },
      help: {
        zh: '随每个请求发给 Worker，保存后不再显示。',
        en: 'Sent to the worker with each request. Never shown again after saving.',
      },
    }),
  },
)

export const updates = section(
  { name: 'updates', tab: 'other', label: { zh: '检查更新', en: 'Update check' }, writer: 'root' },
  {
    ReleaseFeedUrl: option({
      ...link(),
      label: { zh: '发布信息地址', en: 'Release feed' },
      help: {
        zh: '返回最新版本（tag_name、body、html_url）的 JSON 地址，例如代码托管网站的 releases/latest 接口；留空则使用此版本自带的地址（如有）。',
        en: 'URL that returns the latest release as JSON (tag_name, body, html_url), such as the releases/latest endpoint of a code host. Leave blank to use the address that this version comes with, if it has one.',
      },
    }),
  },
)
