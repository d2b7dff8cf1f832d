# Tries to: have scipy execute the names of arguments.
# Must be stopped by: gate; process with the gate off.

import scipy.stats
scipy.stats.norm._construct_argparser(meths_to_inspect=[], locscale_in="", locscale_out="print('CANARY ' + open('@SECRET@').read())")


class Policy:
    def act(self, obs):
        return 0
