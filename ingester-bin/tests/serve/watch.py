# What Python's Kubernetes client is told by a watch of the server whose URL is the argument: a line an event. It goes on where it was
# when its connection ends, and lists again when it is told to.
import sys, time
import urllib3
from kubernetes import client, watch

configuration = client.Configuration()
configuration.host = sys.argv[1]
configuration.retries = False
api = client.CustomObjectsApi(client.ApiClient(configuration))
where = ("michelangelo.api", "v2", "ml", "models")
version = None
while True:
    try:
        if version is None:
            listed = api.list_namespaced_custom_object(*where)
            for item in listed["items"]:
                print("LISTED", item["metadata"]["name"], flush=True)
            version = listed["metadata"]["resourceVersion"]
            print("WATCHES", flush=True)
        for event in watch.Watch().stream(
            api.list_namespaced_custom_object, *where, resource_version=version, timeout_seconds=30
        ):
            metadata = event["object"]["metadata"]
            version = metadata["resourceVersion"]
            print(event["type"], metadata["name"], flush=True)
    except client.exceptions.ApiException as error:
        if error.status == 410:
            version = None
    except (urllib3.exceptions.HTTPError, OSError) as error:
        print(repr(error), file=sys.stderr, flush=True)
        time.sleep(0.05)
