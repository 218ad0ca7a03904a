import { Box, Button, Modal } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { SignedInUser } from '../../../contract/entities/user.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { rememberUser } from '../../lib/session.ts'
import { PasswordForm } from '../account/password-form.tsx'
import { dialogName } from '../dialog/dialog-name.ts'
import { Notice } from '../page/notice.tsx'
import styles from './shell.module.css'

const texts = defineTexts({
  title: ['您正在使用默认密码！', 'You are using the default password'],
  body: ['请立刻修改默认密码！任何知道它的人都能接管本站。', 'Change it now: anyone who knows it can take over this site.'],
  change: ['修改密码', 'Change password'],
  later: ['稍后再说', 'Later'],
})

/** The key in session storage that records that the dialog was shown. */
const shownKey = 'default-password-shown'

/** Asks once in a visit, and warns on every page until the password is changed. */
export function DefaultPassword({ user }: { user: SignedInUser }) {
  const say = useText(texts)
  const [opened, setOpened] = useState(() => sessionStorage.getItem(shownKey) === null)

  // The storage of the visit is outside of React. A login shows the dialog again.
  useEffect(() => {
    sessionStorage.setItem(shownKey, 'true')
    return () => sessionStorage.removeItem(shownKey)
  }, [])
  return (
    <>
      <Box mb="md">
        <Notice
          kind="danger"
          title={say('title')}
          action={
            <Button size="compact-sm" color="red" onClick={() => setOpened(true)}>
              {say('change')}
            </Button>
          }
        >
          {say('body')}
        </Notice>
      </Box>
      <Modal
        attributes={dialogName(say('title'))}
        opened={opened}
        onClose={() => setOpened(false)}
        title={say('title')}
        closeButtonProps={{ 'aria-label': say('later') }}
      >
        <p className={styles.warningText}>{say('body')}</p>
        <PasswordForm onDone={() => rememberUser({ ...user, default_password: false })} />
      </Modal>
    </>
  )
}
