import { useQuery } from '@tanstack/react-query'
import type { Status } from '../../contract/status.ts'
import { ApiError, call } from './call.ts'
import { defineTexts, textOf } from './i18n.ts'
import { storedJson, storedText } from './stored.ts'
import { toast } from './toast.ts'

/** The public status object, stored locally so that a visit begins with the last known one. */

const fallback: Status = {
  version: '',
  sluice_version: '',
  start_time: 0,
  system_name: 'Sluice',
  logo: '',
  footer_html: '',
  server_address: '',
  quota_per_unit: 500_000,
  display_in_currency: true,
  enable_drawing: false,
  enable_task: false,
  enable_data_export: false,
  enable_online_topup: false,
  enable_batch_update: true,
  data_export_default_time: 'hour',
  default_collapse_sidebar: false,
  mj_notify_enabled: false,
  chats: [],
  chat_link: '',
  chat_link2: '',
  price: 7.3,
  min_topup: 1,
  top_up_link: '',
  turnstile_check: false,
  turnstile_site_key: '',
  github_oauth: false,
  github_client_id: '',
  linuxdo_oauth: false,
  linuxdo_client_id: '',
  wechat_login: false,
  wechat_qrcode: '',
  telegram_oauth: false,
  telegram_bot_name: '',
  oidc_enabled: false,
  oidc_client_id: '',
  oidc_name: '',
  passkey_login: false,
  email_verification: false,
  register_enabled: true,
  password_register_enabled: true,
  password_login_enabled: true,
  self_use_mode_enabled: false,
  demo_site_enabled: false,
  status_page_enabled: false,
}

const isObject = (value: unknown): value is Status => typeof value === 'object' && value !== null && !Array.isArray(value)
const remembered = storedJson<Status>('status', fallback, isObject)

/** Single values of the status under their established keys, for pages and scripts that read them. */
const singleKeys = [
  'chats',
  'chat_link',
  'footer_html',
  'default_collapse_sidebar',
  'enable_data_export',
  'enable_drawing',
  'enable_task',
] as const

function remember(status: Status): void {
  remembered.write(status)
  for (const key of singleKeys) {
    const value = status[key]
    storedText(key).write(typeof value === 'string' ? value : JSON.stringify(value))
  }
}

async function loadStatus(signal: AbortSignal): Promise<Status> {
  try {
    const status = withChatList({ ...fallback, ...(await call('GET /api/status', { signal })) })
    remember(status)
    return status
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status === 0) throw cause
    throw new ApiError(textOf(texts, 'failed'), cause)
  }
}

/** The stored status immediately, and the server's answer as soon as it arrives. */
export function useStatus(): Status {
  const { data } = useQuery({
    queryKey: ['GET /api/status', {}],
    queryFn: ({ signal }) => loadStatus(signal),
    initialData: () => currentStatus(),
    initialDataUpdatedAt: 0,
    staleTime: 5 * 60_000,
  })
  return data
}

function currentStatus(): Status {
  return withChatList({ ...fallback, ...remembered.read() })
}

/** A list of chat pages that is none, as of another program behind this address, is left out and told once. */
function withChatList(status: Status): Status {
  const isList = Array.isArray(status.chats) && status.chats.every((chat) => typeof chat === 'object' && chat !== null)
  if (isList) return status
  toast.error(textOf(texts, 'chatsFailed'))
  return { ...status, chats: [] }
}

const texts = defineTexts({
  failed: ['加载状态失败', 'Failed to load the site status'],
  chatsFailed: ['聊天数据解析失败', 'Failed to parse the chat data'],
})
