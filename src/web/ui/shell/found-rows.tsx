import { useDebouncedValue } from '@mantine/hooks'
import type { SpotlightActionGroupData } from '@mantine/spotlight'
import { IconAdjustments, IconKey, IconReceipt, IconServer2, IconTag, IconUser } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Section } from '../../../contract/options/define.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useMayCall } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { rowsOf } from '../list/listing.ts'
import { texts } from './texts.ts'

interface Found {
  readonly found: SpotlightActionGroupData[]
  /** The search may find more rows. */
  readonly isLookingUp: boolean
}

/**
 * Matching tokens, by name or key, the price of matching models, the row of a request id, and for admins channels, users and settings. Each
 * opens its list filtered to itself.
 */
export function useFoundRows(typed: string): Found {
  const say = useText(texts)
  const [keyword] = useDebouncedValue(typed.trim(), 200)
  const { settings, isLoading } = useFoundSettings(typed.trim())
  const isSearch = keyword.length >= 2
  const mayManage = useMay('admin')
  const mayUseTokens = useMayCall('GET /api/token/search')
  const navigate = useNavigate()
  const query = { ...unfiltered, keyword, paged: true, page_size: foundMax }

  const ofToken = keyword.startsWith('sk-') ? { keyword: '', token: keyword } : {}
  const tokens = useQuery({
    ...read('GET /api/token/search', { query: { ...query, ...ofToken, p: 0 } }),
    enabled: isSearch && mayUseTokens,
  })
  const models = useQuery({ ...read('GET /api/user/models'), enabled: isSearch })
  const channels = useQuery({ ...read('GET /api/channel/search', { query: { ...query, p: 0 } }), enabled: isSearch && mayManage })
  const users = useQuery({ ...read('GET /api/user/search', { query: { ...query, p: 1 } }), enabled: isSearch && mayManage })
  const isBehind = typed.trim().length >= 2 && keyword !== typed.trim()
  const isLookingUp = isBehind || isLoading || [tokens, channels, users, models].some(({ isFetching }) => isFetching)
  if (!isSearch) return { found: [], isLookingUp }

  const go = (to: string, search: string) => () => void navigate({ to, search: { keyword: search } })
  const called = models.data?.filter((model) => model.toLowerCase().includes(keyword.toLowerCase())) ?? []
  const found: SpotlightActionGroupData[] = [
    {
      group: say('log'),
      actions: requestId.test(keyword)
        ? [
            {
              id: `request:${keyword}`,
              label: say('requestRow', { id: keyword }),
              keywords: [keyword],
              leftSection: <IconReceipt size={18} stroke={1.6} />,
              onClick: () => void navigate({ to: '/log', search: { request_id: keyword, from: timeOf(keyword) } }),
            },
          ]
        : [],
    },
    {
      group: say('prices'),
      actions: called.slice(0, foundMax).map((model) => ({
        id: `price:${model}`,
        label: model,
        keywords: [keyword],
        leftSection: <IconTag size={18} stroke={1.6} />,
        onClick: () => void navigate({ to: '/pricing', search: { search: model } }),
      })),
    },
    {
      group: say('tokens'),
      actions: rowsOf(tokens.data).map(({ id, name }) => ({
        id: `token:${id}`,
        label: name,
        keywords: [keyword],
        leftSection: <IconKey size={18} stroke={1.6} />,
        onClick: go('/token', name),
      })),
    },
    {
      group: say('channels'),
      actions: rowsOf(channels.data).map(({ id, name, tag }) => ({
        id: `channel:${id}`,
        label: name,
        description: [`#${id}`, tag].filter(Boolean).join(' · '),
        keywords: [keyword],
        leftSection: <IconServer2 size={18} stroke={1.6} />,
        onClick: go('/channel', String(id)),
      })),
    },
    {
      group: say('users'),
      actions: rowsOf(users.data).map(({ id, username, display_name: shown, email }) => ({
        id: `user:${id}`,
        label: username,
        description: [`#${id}`, shown === username ? '' : shown, email].filter(Boolean).join(' · '),
        keywords: [keyword],
        leftSection: <IconUser size={18} stroke={1.6} />,
        onClick: go('/user', username),
      })),
    },
    { group: say('settings'), actions: settings },
  ]
  return { found: found.filter(({ actions }) => actions.length > 0), isLookingUp }
}

/** The declared options are loaded when an admin first types something. */
function useFoundSettings(keyword: string) {
  const local = useLocal()
  const mayManage = useMay('admin')
  const navigate = useNavigate()
  const { data: sections = [], isLoading } = useQuery({
    queryKey: ['declared options'],
    queryFn: async (): Promise<readonly Section[]> => (await import('../../../contract/options/index.ts')).sections,
    enabled: mayManage && keyword !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })
  const wanted = keyword.toLowerCase()
  const settings = sections
    .flatMap(({ place, options }) =>
      Object.entries(options)
        .filter(([key, { label }]) => [key, label.zh, label.en].some((word) => word.toLowerCase().includes(wanted)))
        .map(([key, { label }]) => ({
          id: `setting:${key}`,
          label: local(label),
          description: local(place.label),
          keywords: [keyword],
          leftSection: <IconAdjustments size={18} stroke={1.6} />,
          onClick: () => void navigate({ to: '/setting', search: searchOf(place.tab), hash: key }),
        })),
    )
    .slice(0, foundMax)
  return { settings, isLoading }
}

/** Prices are a table at first, and settings in another view of it. */
const searchOf = (tab: string) => (tab === 'prices' ? { tab, view: 'options' } : { tab })

const foundMax = 5
/** It begins with the time of the request, in UTC: 2026-02-03 04:05:06.789 is 20260203040506789. */
const requestId = /^\d{17}[\w-]{12}$/

/** The unix second before a request, where the log is searched from. */
function timeOf(id: string): number {
  const [, date, hours, minutes, seconds] = /^(\d{8})(\d\d)(\d\d)(\d\d)/.exec(id) ?? []
  const day = date?.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3')
  return Math.floor(Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) / 1000) - 1
}

const unfiltered = { status: undefined, type: undefined, role: undefined, deleted: undefined, ascending: undefined }
