import {
  IconBrandPython,
  IconCopy,
  IconMessageCircle,
  IconPencil,
  IconPlugConnected,
  IconReceipt,
  IconTerminal2,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type Token, tokenStatus } from '../../../contract/entities/token.ts'
import { chatUrl, openChat } from '../../lib/chat-link.ts'
import { fullKey, hasKey } from '../../lib/full-key.ts'
import { useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useStatus } from '../../lib/status.ts'
import { startOfDay } from '../../lib/times.ts'
import { toast } from '../../lib/toast.ts'
import { useBudgetsAction } from '../../ui/budgets/use-budgets-action.tsx'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction, toggleAction } from '../../ui/list/row-common-actions.tsx'
import { useRecordAction } from '../../ui/recording/use-record-action.tsx'
import { copyText } from '../../ui/view/copy-text.tsx'
import { curlOf, sdkOf } from './snippets.ts'
import { texts } from './texts.ts'
import { tokenLists } from './token-lines.ts'

interface ActionsProps {
  readonly token: Token
  readonly onEdit: () => void
  readonly onDeleted: () => void
}

export function Actions({ token, onEdit, onDeleted }: ActionsProps) {
  const say = useText(texts)
  const navigate = useNavigate()
  const { chats } = useStatus()
  const payer = usePayer()
  const { id, name, status } = token
  const use = { token, address: useServerAddress() }
  const record = useRecordAction({ kind: 'own-token', id, name })
  const budgets = useBudgetsAction({ scope: 'token', subject: String(id), name })
  const isEnabled = status === tokenStatus.enabled
  const toggle = useWrite('PUT /api/token/', {
    invalidates: tokenLists,
    success: (after) => say(after.status === tokenStatus.enabled ? 'enabled' : 'disabled', { name }),
  })
  const remove = useWrite('DELETE /api/token/:id', {
    invalidates: tokenLists,
    success: say('deleted', { name }),
    onSuccess: onDeleted,
  })

  function chat(link: string): void {
    const url = chatUrl(link, { key: fullKey(token), address: use.address })
    if (url) openChat(url)
    else toast.error(say('chatBroken'))
  }

  function setStatus(next: 1 | 2): void {
    toggle.mutate({ query: { status_only: true }, body: { id, status: next } })
  }

  const uses: RowAction[] = [
    { label: say('copyKey'), icon: <IconCopy {...actionIcon} />, onClick: () => void copyText(fullKey(token), say('keyCopied')) },
    {
      label: say('copyCurl'),
      icon: <IconTerminal2 {...actionIcon} />,
      onClick: () => void copyText(curlOf(use), say('curlCopied')),
    },
    {
      label: say('copySdk'),
      icon: <IconBrandPython {...actionIcon} />,
      onClick: () => void copyText(sdkOf(use), say('sdkCopied')),
    },
    {
      label: say('connect'),
      icon: <IconPlugConnected {...actionIcon} />,
      onClick: () => void navigate({ to: '/connect', search: { token: id } }),
    },
  ]
  const chatUses: RowAction[] = chats.flatMap(Object.entries<string>).map(([chatName, link]) => ({
    label: say('chat', { name: chatName }),
    icon: <IconMessageCircle {...actionIcon} />,
    onClick: () => chat(link),
  }))
  const actions: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    ...(hasKey(token) ? uses : []),
    {
      label: say('showLogs'),
      icon: <IconReceipt {...actionIcon} />,
      onClick: () => void navigate({ to: '/log', search: { token_name: name, from: startOfDay(6) } }),
    },
    budgets.action,
    ...(payer ? [] : [record.action]),
    ...(hasKey(token) ? chatUses : []),
    toggleAction(say, {
      isOn: isEnabled,
      disabled: toggle.isPending,
      onClick: () => setStatus(isEnabled ? tokenStatus.disabled : tokenStatus.enabled),
    }),
    deleteAction(say, { object: name, onClick: () => remove.mutate({ params: { id } }) }),
  ]
  return (
    <>
      <RowActions name={name} actions={actions} />
      {budgets.dialog}
      {record.dialog}
    </>
  )
}
