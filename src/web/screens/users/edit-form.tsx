import { Box, Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type User, userEditFields } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { DrawerBody, DrawerForm, DrawerFormWaiting } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import shared from '../../ui/shared.module.css'
import { useQuotaHint } from '../../ui/view/quota-text.tsx'
import { faultsOf } from './form-faults.ts'
import { showAtField } from './refusals.ts'
import { texts } from './texts.ts'
import styles from './users.module.css'

interface EditFormProps {
  readonly id: number
  readonly onDone: () => void
  readonly onQuota: (user: User) => void
}

/** The form of a user, who is loaded again each time. */
export function EditForm({ id, onDone, onQuota }: EditFormProps) {
  const say = useText(texts)
  const me = useSession()
  const saved = useQuery({ ...read('GET /api/user/:id', { params: { id } }), staleTime: 0, gcTime: 0 })

  if (saved.data) {
    if (saved.data.id !== me?.id) return <Fields user={saved.data} onDone={onDone} onQuota={onQuota} />
    return (
      <DrawerBody>
        <Notice
          title={say('ownTitle')}
          action={
            <Button component={Link} to="/user/edit" size="compact-sm">
              {say('edit')}
            </Button>
          }
        >
          {say('ownHint')}
        </Notice>
      </DrawerBody>
    )
  }
  if (saved.error) return <ErrorView error={saved.error} onRetry={() => void saved.refetch()} />
  return <DrawerFormWaiting />
}

function Fields({ user, onDone, onQuota }: Omit<EditFormProps, 'id'> & { user: User }) {
  const say = useText(texts)
  const amountOf = useQuotaHint()
  const groups = useQuery(read('GET /api/group/'))
  const form = useForm({
    initialValues: { username: user.username, display_name: user.display_name, password: '', group: user.group },
    validate: (values) => faultsOf(userEditFields, values),
  })
  const save = useWrite('PUT /api/user/', {
    invalidates: ['GET /api/user/search'],
    success: say('updated'),
    onSuccess: onDone,
    onFailure: (cause) => showAtField(cause, form.setFieldError),
  })
  const submit = form.onSubmit((values) => save.mutate({ body: { id: user.id, ...values } }))

  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={userEditFields}
        form={form}
        inputs={{ group: { data: [...new Set([...(groups.data ?? []), user.group])] } }}
      />
      <div className={styles.quota}>
        <Facts
          facts={[
            { label: say('left'), value: amountOf(user.quota) },
            { label: say('used'), value: amountOf(user.used_quota) },
          ]}
        />
        <Button variant="default" onClick={() => onQuota(user)}>
          {say('quota')}
        </Button>
      </div>
      <Fixed user={user} />
    </DrawerForm>
  )
}

/** Only the user can bind and unbind these. */
function Fixed({ user }: { user: User }) {
  const say = useText(texts)
  const bound = [
    { label: say('email'), id: user.email },
    { label: 'GitHub', id: user.github_id },
    { label: 'LinuxDO', id: user.linux_do_id },
    { label: say('wechat'), id: user.wechat_id },
    { label: 'Telegram', id: user.telegram_id },
    { label: 'OIDC', id: user.oidc_id },
  ]
  return (
    <section aria-label={say('fixed')}>
      <Box component="p" mb="xs" className={shared.hint}>
        {say('fixed')}
      </Box>
      <Facts
        facts={bound.map(({ label, id }) => ({ label, value: id || <span className={shared.quiet}>{say('notBound')}</span> }))}
      />
    </section>
  )
}
