import { IconBuildingOff, IconCircleCheck, IconCircleOff, IconCoins, IconEye, IconPencil, IconReceipt } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Organisation } from '../../../contract/entities/organisation.ts'
import { useText } from '../../lib/i18n.ts'
import { switchPayer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { texts } from './texts.ts'

export interface OrganisationForm {
  readonly kind: 'edit' | 'fund'
  readonly organisation: Organisation
}

interface ActionsProps {
  readonly organisation: Organisation
  readonly onForm: (form: OrganisationForm) => void
}

export function Actions({ organisation, onForm }: ActionsProps) {
  const say = useText(texts)
  const client = useQueryClient()
  const navigate = useNavigate()
  const isRoot = useMay('root')
  const { id, name, username, status } = organisation
  const invalidates = ['GET /api/organisation/', 'GET /api/organisation/:id'] as const
  const edit = useWrite('PUT /api/organisation/:id', { invalidates, success: say('saved') })
  const close = useWrite('DELETE /api/organisation/:id', { invalidates, success: say('closed', { name }) })

  async function open(): Promise<void> {
    await switchPayer(client, organisation)
    await navigate({ to: '/organisation' })
  }

  const suspend: RowAction = {
    label: say('suspend'),
    icon: <IconCircleOff {...actionIcon} />,
    danger: true,
    ask: { title: say('suspendTitle'), object: name, body: say('suspendBody') },
    onClick: () => edit.mutate({ params: { id }, body: { status: 2 } }),
  }
  const activate: RowAction = {
    label: say('activate'),
    icon: <IconCircleCheck {...actionIcon} />,
    onClick: () => edit.mutate({ params: { id }, body: { status: 1 } }),
  }
  const fund: RowAction = {
    label: say('fund'),
    icon: <IconCoins {...actionIcon} />,
    onClick: () => onForm({ kind: 'fund', organisation }),
  }
  const actions: RowAction[] = [
    { label: say('open'), icon: <IconEye {...actionIcon} />, primary: true, onClick: () => void open() },
    {
      label: say('edit'),
      icon: <IconPencil {...actionIcon} />,
      primary: true,
      onClick: () => onForm({ kind: 'edit', organisation }),
    },
    ...(isRoot ? [fund] : []),
    {
      label: say('logs'),
      icon: <IconReceipt {...actionIcon} />,
      onClick: () => void navigate({ to: '/log', search: { username, from: startOfDay(29) } }),
    },
    status === 1 ? suspend : activate,
    {
      label: say('close'),
      icon: <IconBuildingOff {...actionIcon} />,
      danger: true,
      ask: { title: say('closeTitle'), object: name, body: say('closeBody') },
      onClick: () => close.mutate({ params: { id } }),
    },
  ]
  return <RowActions name={name} actions={actions} />
}
