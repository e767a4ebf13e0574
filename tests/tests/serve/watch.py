# What Python's Kubernetes client is told by a watch of the server of the kubeconfig that the first argument names, in the namespace that
# the second one names: a line an event. It goes on where it was when its connection ends, and lists again when it is told to.
import sys, time
import urllib3
from kubernetes import client, config, watch

configuration = client.Configuration()
config.load_kube_config(sys.argv[1], client_configuration=configuration)
configuration.retries = False
api = client.CustomObjectsApi(client.ApiClient(configuration))
where = ("michelangelo.api", "v2", sys.argv[2], "models")


def say(what, metadata):
    print(what, metadata["name"], metadata["resourceVersion"], flush=True)


version = None
while True:
    try:
        if version is None:
            listed = api.list_namespaced_custom_object(*where)
            for item in listed["items"]:
                say("LISTED", item["metadata"])
            version = listed["metadata"]["resourceVersion"]
            print("SYNCED", flush=True)
        for event in watch.Watch().stream(
            api.list_namespaced_custom_object, *where, resource_version=version, timeout_seconds=30
        ):
            metadata = event["object"]["metadata"]
            version = metadata["resourceVersion"]
            say(event["type"], metadata)
    except client.exceptions.ApiException as error:
        if error.status == 410:
            version = None
    except (urllib3.exceptions.HTTPError, OSError):
        time.sleep(0.01)
